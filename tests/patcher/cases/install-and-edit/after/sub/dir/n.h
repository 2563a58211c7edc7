int n = 2;
