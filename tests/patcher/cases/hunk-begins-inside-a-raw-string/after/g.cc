__device__ inline void post(uint64_t* q, uint64_t lo, uint64_t hi) {
  q += 1;
  // one 128-bit store
  asm volatile(R"PTX(
      .reg .b128 v%=;
      mov.b128 v%=, {%1, %2};
      st.relaxed.sys.b128 [%0], v%=;
      fence.sc.sys;
    )PTX" ::"l"(q), "l"(lo), "l"(hi) : "memory");
  done(q + 1);
}
