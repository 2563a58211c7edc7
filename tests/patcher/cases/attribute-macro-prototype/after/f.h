API_MACRO int start(int x);
API_MACRO const char * stop(int x);

struct options {
  int level;
};
