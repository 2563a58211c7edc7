P p{.x{1}, .y = 2};
int q = 2;
