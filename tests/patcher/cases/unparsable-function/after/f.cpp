#define IF_LOG(l) if (lvl >= LOG_##l)
void g(){ IF_LOG(DEBUG) { other(1); } }
void k(){ other(2); }
