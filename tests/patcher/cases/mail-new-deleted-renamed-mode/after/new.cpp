int moved() {
  return 11;
}

int stays() {
  return 2;
}
