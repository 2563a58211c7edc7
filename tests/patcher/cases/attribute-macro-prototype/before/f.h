API_MACRO int start(int x);

struct options {
  int level;
};
