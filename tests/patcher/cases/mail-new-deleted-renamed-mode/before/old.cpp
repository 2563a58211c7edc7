int moved() {
  return 1;
}

int stays() {
  return 2;
}
