gemm:
0x0:  endbr64
0x4:  push rbp
0x5:  mov rbp, rsp
0x8:  push r15
0xa:  push r14
0xc:  push r13
0xe:  push r12
0x10:  push rbx
0x11:  and rsp, 0xfffffffffffffff8
0x15:  sub rsp, 0x28
0x19:  movsxd rax, dword ptr [rdi]
0x1c:  movsxd r9, dword ptr [rdi + 4]
0x20:  mov rcx, qword ptr [rdi + 0xd0]
0x27:  mov rdx, qword ptr [rdi + 0xd8]
0x2e:  mov r8, qword ptr [rsi]
0x31:  imul r8, rcx
0x35:  add r8, qword ptr [rdi + 0x30]
0x39:  mov r11, qword ptr [rsi + 8]
0x3d:  imul r11, rdx
0x41:  add r11, qword ptr [rdi + 0x38]
0x45:  add rdx, r11
0x48:  cmp rdx, r9
0x4b:  mov qword ptr [rsp + 0x20], r9
0x50:  cmovae rdx, r9
0x54:  add rcx, r8
0x57:  cmp rcx, rax
0x5a:  cmovae rcx, rax
0x5e:  mov rax, rcx
0x61:  sub rax, r8
0x64:  test rax, rax
0x67:  jle 0x23a
0x6d:  mov r9, rdx
0x70:  sub r9, r11
0x73:  test r9, r9
0x76:  jle 0x23a
0x7c:  movsxd rsi, dword ptr [rdi + 8]
0x80:  mov rax, qword ptr [rdi + 0x10]
0x84:  mov qword ptr [rsp + 0x10], rax
0x89:  mov r14, qword ptr [rdi + 0x18]
0x8d:  mov rax, qword ptr [rdi + 0x20]
0x91:  mov qword ptr [rsp + 0x18], rax
0x96:  movabs rbx, 0x7ffffffffffffff0
0xa0:  and rbx, r9
0xa3:  add rbx, r11
0xa6:  mov qword ptr [rsp + 8], r9
0xab:  cmp r9, 0x10
0xaf:  jae 0x24c
0xb5:  test byte ptr [rsp + 8], 0xf
0xba:  je 0x23a
0xc0:  mov eax, esi
0xc2:  and eax, 0xfffffff0
0xc5:  mov edi, esi
0xc7:  and edi, 0xfffffffc
0xca:  mov r9, rbx
0xcd:  imul r9, rsi
0xd1:  lea r9, [r14 + r9*4]
0xd5:  mov qword ptr [rsp + 8], r9
0xda:  lea r14, [rsi*4]
0xe2:  mov r9, r8
0xe5:  imul r9, rsi
0xe9:  mov r10, qword ptr [rsp + 0x10]
0xee:  lea r15, [r10 + r9*4]
0xf2:  movabs r9, 0
0xfc:  vbroadcastss xmm0, dword ptr [r9]
0x101:  vpxor xmm1, xmm1, xmm1
0x105:  vbroadcastss zmm2, dword ptr [r9]
0x10b:  jmp 0x11f
0x10d:  nop dword ptr [rax]
0x110:  inc r8
0x113:  add r15, r14
0x116:  cmp r8, rcx
0x119:  je 0x23a
0x11f:  mov r9, r8
0x122:  imul r9, qword ptr [rsp + 0x20]
0x128:  mov r10, qword ptr [rsp + 0x18]
0x12d:  lea r12, [r10 + r9*4]
0x131:  mov r13, qword ptr [rsp + 8]
0x136:  mov r9, rbx
0x139:  jmp 0x155
0x13b:  nop dword ptr [rax + rax]
0x140:  vpxor xmm3, xmm3, xmm3
0x144:  vmovss dword ptr [r12 + r9*4], xmm3
0x14a:  inc r9
0x14d:  add r13, r14
0x150:  cmp r9, rdx
0x153:  je 0x110
0x155:  test esi, esi
0x157:  je 0x140
0x159:  cmp esi, 4
0x15c:  jae 0x170
0x15e:  vpxor xmm3, xmm3, xmm3
0x162:  xor r11d, r11d
0x165:  jmp 0x220
0x16a:  nop word ptr [rax + rax]
0x170:  cmp esi, 0x10
0x173:  jae 0x17e
0x175:  vmovaps xmm3, xmm0
0x179:  xor r10d, r10d
0x17c:  jmp 0x1d0
0x17e:  xor r10d, r10d
0x181:  vmovaps zmm3, zmm2
0x187:  nop word ptr [rax + rax]
0x190:  vmovups zmm4, zmmword ptr [r15 + r10*4]
0x197:  vfmadd231ps zmm3, zmm4, zmmword ptr [r13 + r10*4]
0x19f:  add r10, 0x10
0x1a3:  cmp r10, rax
0x1a6:  jb 0x190
0x1a8:  vextractf64x4 ymm4, zmm3, 1
0x1af:  vaddps zmm3, zmm3, zmm4
0x1b5:  vextractf128 xmm4, ymm3, 1
0x1bb:  vaddps xmm3, xmm3, xmm4
0x1bf:  mov r10, rax
0x1c2:  mov r11, rax
0x1c5:  test sil, 0xc
0x1c9:  je 0x1e9
0x1cb:  nop dword ptr [rax + rax]
0x1d0:  vmovups xmm4, xmmword ptr [r15 + r10*4]
0x1d6:  vfmadd231ps xmm3, xmm4, xmmword ptr [r13 + r10*4]
0x1dd:  add r10, 4
0x1e1:  cmp r10, rdi
0x1e4:  jb 0x1d0
0x1e6:  mov r11, rdi
0x1e9:  vaddss xmm4, xmm3, xmm1
0x1ed:  vmovshdup xmm5, xmm3
0x1f1:  vaddss xmm4, xmm4, xmm5
0x1f5:  vshufpd xmm5, xmm3, xmm3, 1
0x1fa:  vaddss xmm4, xmm4, xmm5
0x1fe:  vshufps xmm3, xmm3, xmm3, 0xff
0x203:  vaddss xmm3, xmm4, xmm3
0x207:  test esi, 0x80000003
0x20d:  je 0x144
0x213:  nop word ptr cs:[rax + rax]
0x220:  vmovss xmm4, dword ptr [r15 + r11*4]
0x226:  vfmadd231ss xmm3, xmm4, dword ptr [r13 + r11*4]
0x22d:  inc r11
0x230:  cmp rsi, r11
0x233:  jne 0x220
0x235:  jmp 0x144
0x23a:  lea rsp, [rbp - 0x28]
0x23e:  pop rbx
0x23f:  pop r12
0x241:  pop r13
0x243:  pop r14
0x245:  pop r15
0x247:  pop rbp
0x248:  vzeroupper
0x24b:  ret
0x24c:  vpbroadcastq zmm1, rsi
0x252:  vpbroadcastq zmm0, r11
0x258:  movabs rax, 0
0x262:  vpaddq zmm2, zmm0, zmmword ptr [rax]
0x268:  movabs rax, 0
0x272:  vpaddq zmm0, zmm0, zmmword ptr [rax]
0x278:  vpmullq zmm0, zmm0, zmm1
0x27e:  vpmullq zmm1, zmm2, zmm1
0x284:  vmovq rax, xmm1
0x289:  vpextrq rdi, xmm1, 1
0x28f:  sub rdi, rax
0x292:  shl rdi, 4
0x296:  vpbroadcastq zmm2, rdi
0x29c:  mov rax, r8
0x29f:  imul rax, rsi
0x2a3:  mov rdi, qword ptr [rsp + 0x10]
0x2a8:  lea r15, [rdi + rax*4]
0x2ac:  lea r12, [rsi*4]
0x2b4:  mov r13, r8
0x2b7:  jmp 0x2cf
0x2b9:  nop dword ptr [rax]
0x2c0:  inc r13
0x2c3:  add r15, r12
0x2c6:  cmp r13, rcx
0x2c9:  je 0xb5
0x2cf:  mov rax, r13
0x2d2:  imul rax, qword ptr [rsp + 0x20]
0x2d8:  mov rdi, qword ptr [rsp + 0x18]
0x2dd:  lea r9, [rdi + rax*4]
0x2e1:  mov r10, r11
0x2e4:  vmovdqa64 zmm3, zmm1
0x2ea:  vmovdqa64 zmm4, zmm0
0x2f0:  jmp 0x31c
0x2f2:  nop word ptr cs:[rax + rax]
0x300:  vmovups zmmword ptr [r9 + r10*4], zmm5
0x307:  add r10, 0x10
0x30b:  vpaddq zmm3, zmm3, zmm2
0x311:  vpaddq zmm4, zmm4, zmm2
0x317:  cmp r10, rbx
0x31a:  je 0x2c0
0x31c:  vxorps xmm5, xmm5, xmm5
0x320:  test esi, esi
0x322:  je 0x300
0x324:  xor eax, eax
0x326:  nop word ptr cs:[rax + rax]
0x330:  lea rdi, [r14 + rax*4]
0x334:  kxnorb k1, k0, k0
0x338:  vxorps xmm6, xmm6, xmm6
0x33c:  vgatherqps ymm6 {k1}, ymmword ptr [rdi + zmm4*4]
0x343:  kxnorb k1, k0, k0
0x347:  vxorps xmm7, xmm7, xmm7
0x34b:  vgatherqps ymm7 {k1}, ymmword ptr [rdi + zmm3*4]
0x352:  vinsertf64x4 zmm6, zmm7, ymm6, 1
0x359:  vfmadd231ps zmm5, zmm6, dword ptr [r15 + rax*4]{1to16}
0x360:  inc rax
0x363:  cmp rsi, rax
0x366:  jne 0x330
0x368:  jmp 0x300
