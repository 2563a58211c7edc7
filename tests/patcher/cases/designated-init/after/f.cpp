P p{.x{1}, .y = 3};
int q = 1;
