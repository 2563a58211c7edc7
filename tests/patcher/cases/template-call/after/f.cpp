void f() {
  doc.get<1>(nullptr);
}
