int a;
<<<<<<< HEAD
int b;
=======
int c;
>>>>>>> other
