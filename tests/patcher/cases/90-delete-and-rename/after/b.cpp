int a = 2;
