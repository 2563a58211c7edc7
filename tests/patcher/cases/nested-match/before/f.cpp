void f() {
  if (c) {
    if (d) {
      x();
    } else {
      y();
    }
  } else {
    z();
  }
}
