void f() {
  doc.get<0>(nullptr);
}
