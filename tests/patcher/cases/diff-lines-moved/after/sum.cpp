int pad1;
int pad2;
int pad3;
int pad4;
int pad5;
int pad6;
int pad7;
int pad8;
int pad9;
int pad10;
int pad11;
int pad12;
int pad13;
int pad14;
int pad15;
int pad16;
int pad17;
int pad18;
int pad19;
int pad20;
int pad21;
int pad22;
int pad23;
int pad24;
int pad25;
int pad26;
int pad27;
int pad28;
int pad29;
int pad30;
int pad31;
int pad32;
int pad33;
int pad34;
int pad35;
int pad36;
int pad37;
int pad38;
int pad39;
int pad40;
#include <vector>

int a0(const std::vector<int>& v) {
  int r = 0;
  for (int x : v) {
    r += x;
  }
  return r;
}

int a1(const std::vector<int>& v) {
  int r = 0;
  for (int x : v) {
    r += x * x;
  }
  return r;
}

int last(const std::vector<int>& v) {
  return v.back();
}
