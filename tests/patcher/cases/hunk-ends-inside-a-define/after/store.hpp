#ifndef STORE_H
#define STORE_H

#define STORE_GOOD(s)                 \
  ((s) != NULL &&                     \
   (s)->magic == STORE_MAGIC &&       \
   (s)->count >= 0 &&                 \
   (s)->top >= 0)

struct store_key;

struct store {
  int count;
  int magic;
};

#endif
