int spl\
it(int x){return x;}
