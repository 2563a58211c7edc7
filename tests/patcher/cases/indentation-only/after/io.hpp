class Io {
 public:
  int run(int n) {
    for (int i = 0; i < n; ++i) {
      load(i);
      if (n > 1) {
        add(i);
      }

      move(i);
    }

    store(i);
    ++count;
  }
};
