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
0x15:  sub rsp, 0x38
0x19:  movsxd r9, dword ptr [rdi]
0x1c:  movsxd rax, dword ptr [rdi + 4]
0x20:  mov rcx, qword ptr [rdi + 0xd0]
0x27:  mov rdx, qword ptr [rdi + 0xd8]
0x2e:  mov r8, qword ptr [rsi]
0x31:  imul r8, rcx
0x35:  add r8, qword ptr [rdi + 0x30]
0x39:  mov rbx, qword ptr [rsi + 8]
0x3d:  imul rbx, rdx
0x41:  add rbx, qword ptr [rdi + 0x38]
0x45:  add rdx, rbx
0x48:  cmp rdx, rax
0x4b:  mov qword ptr [rsp + 0x28], rax
0x50:  cmovae rdx, rax
0x54:  add rcx, r8
0x57:  cmp rcx, r9
0x5a:  cmovae rcx, r9
0x5e:  mov rsi, rcx
0x61:  sub rsi, r8
0x64:  test rsi, rsi
0x67:  jle 0x1ed
0x6d:  mov r10, rdx
0x70:  sub r10, rbx
0x73:  test r10, r10
0x76:  jle 0x1ed
0x7c:  mov qword ptr [rsp + 0x18], rcx
0x81:  movsxd rsi, dword ptr [rdi + 8]
0x85:  mov rax, qword ptr [rdi + 0x10]
0x89:  mov qword ptr [rsp + 0x10], rax
0x8e:  mov rax, qword ptr [rdi + 0x18]
0x92:  mov qword ptr [rsp + 8], rax
0x97:  mov rax, qword ptr [rdi + 0x20]
0x9b:  mov qword ptr [rsp + 0x20], rax
0xa0:  movabs r9, 0x7ffffffffffffffc
0xaa:  and r9, r10
0xad:  add r9, rbx
0xb0:  mov qword ptr [rsp + 0x30], r10
0xb5:  cmp r10, 4
0xb9:  jae 0x1fc
0xbf:  test byte ptr [rsp + 0x30], 3
0xc4:  mov rcx, qword ptr [rsp + 0x18]
0xc9:  je 0x1ed
0xcf:  mov edi, esi
0xd1:  and edi, 0xfffffffc
0xd4:  mov rax, r9
0xd7:  imul rax, rsi
0xdb:  mov r10, qword ptr [rsp + 8]
0xe0:  lea rbx, [r10 + rax*4]
0xe4:  lea r14, [rsi*4]
0xec:  mov rax, r8
0xef:  imul rax, rsi
0xf3:  mov r10, qword ptr [rsp + 0x10]
0xf8:  lea r11, [r10 + rax*4]
0xfc:  movabs rax, 0
0x106:  movups xmm0, xmmword ptr [rax]
0x109:  pxor xmm1, xmm1
0x10d:  jmp 0x11f
0x10f:  nop
0x110:  inc r8
0x113:  add r11, r14
0x116:  cmp r8, rcx
0x119:  je 0x1ed
0x11f:  mov rax, r8
0x122:  imul rax, qword ptr [rsp + 0x28]
0x128:  mov r10, qword ptr [rsp + 0x20]
0x12d:  lea r15, [r10 + rax*4]
0x131:  mov r12, rbx
0x134:  mov r13, r9
0x137:  jmp 0x155
0x139:  nop dword ptr [rax]
0x140:  pxor xmm2, xmm2
0x144:  movss dword ptr [r15 + r13*4], xmm2
0x14a:  inc r13
0x14d:  add r12, r14
0x150:  cmp r13, rdx
0x153:  je 0x110
0x155:  test esi, esi
0x157:  je 0x140
0x159:  cmp esi, 4
0x15c:  jae 0x170
0x15e:  pxor xmm2, xmm2
0x162:  xor r10d, r10d
0x165:  jmp 0x1d0
0x167:  nop word ptr [rax + rax]
0x170:  xor r10d, r10d
0x173:  movaps xmm2, xmm0
0x176:  nop word ptr cs:[rax + rax]
0x180:  movups xmm3, xmmword ptr [r11 + r10*4]
0x185:  movups xmm4, xmmword ptr [r12 + r10*4]
0x18a:  mulps xmm4, xmm3
0x18d:  addps xmm2, xmm4
0x190:  add r10, 4
0x194:  cmp r10, rdi
0x197:  jb 0x180
0x199:  movaps xmm3, xmm2
0x19c:  addss xmm3, xmm1
0x1a0:  movshdup xmm4, xmm2
0x1a4:  addss xmm4, xmm3
0x1a8:  movaps xmm3, xmm2
0x1ab:  unpckhpd xmm3, xmm2
0x1af:  addss xmm3, xmm4
0x1b3:  shufps xmm2, xmm2, 0xff
0x1b7:  addss xmm2, xmm3
0x1bb:  mov r10, rdi
0x1be:  cmp rdi, rsi
0x1c1:  je 0x144
0x1c3:  nop word ptr cs:[rax + rax]
0x1cd:  nop dword ptr [rax]
0x1d0:  movss xmm3, dword ptr [r11 + r10*4]
0x1d6:  mulss xmm3, dword ptr [r12 + r10*4]
0x1dc:  addss xmm2, xmm3
0x1e0:  inc r10
0x1e3:  cmp rsi, r10
0x1e6:  jne 0x1d0
0x1e8:  jmp 0x144
0x1ed:  lea rsp, [rbp - 0x28]
0x1f1:  pop rbx
0x1f2:  pop r12
0x1f4:  pop r13
0x1f6:  pop r14
0x1f8:  pop r15
0x1fa:  pop rbp
0x1fb:  ret
0x1fc:  movq xmm0, rsi
0x201:  pshufd xmm2, xmm0, 0x44
0x206:  movq xmm0, rbx
0x20b:  pshufd xmm0, xmm0, 0x44
0x210:  movabs rdi, 0
0x21a:  movdqu xmm1, xmmword ptr [rdi]
0x21e:  paddq xmm1, xmm0
0x222:  movabs rdi, 0
0x22c:  paddq xmm0, xmmword ptr [rdi]
0x230:  movdqa xmm3, xmm2
0x234:  psrlq xmm3, 0x20
0x239:  movdqa xmm4, xmm0
0x23d:  pmuludq xmm4, xmm3
0x241:  movdqa xmm5, xmm0
0x245:  psrlq xmm5, 0x20
0x24a:  pmuludq xmm5, xmm2
0x24e:  paddq xmm5, xmm4
0x252:  psllq xmm5, 0x20
0x257:  pmuludq xmm0, xmm2
0x25b:  paddq xmm0, xmm5
0x25f:  pmuludq xmm3, xmm1
0x263:  movdqa xmm4, xmm1
0x267:  psrlq xmm4, 0x20
0x26c:  pmuludq xmm4, xmm2
0x270:  paddq xmm4, xmm3
0x274:  psllq xmm4, 0x20
0x279:  pmuludq xmm1, xmm2
0x27d:  paddq xmm1, xmm4
0x281:  pextrq rdi, xmm1, 1
0x288:  movq r10, xmm1
0x28d:  sub rdi, r10
0x290:  movq xmm2, rdi
0x295:  pshufd xmm2, xmm2, 0x44
0x29a:  psllq xmm2, 2
0x29f:  mov rdi, r8
0x2a2:  imul rdi, rsi
0x2a6:  mov rax, qword ptr [rsp + 0x10]
0x2ab:  lea r15, [rax + rdi*4]
0x2af:  movq xmm3, qword ptr [rsp + 8]
0x2b5:  pshufd xmm3, xmm3, 0x44
0x2ba:  mov r13, r8
0x2bd:  jmp 0x2dc
0x2bf:  nop
0x2c0:  inc r13
0x2c3:  lea rax, [rsi*4]
0x2cb:  add r15, rax
0x2ce:  cmp r13, qword ptr [rsp + 0x18]
0x2d3:  mov rbx, rcx
0x2d6:  je 0xbf
0x2dc:  mov rdi, r13
0x2df:  imul rdi, qword ptr [rsp + 0x28]
0x2e5:  mov rax, qword ptr [rsp + 0x20]
0x2ea:  lea r11, [rax + rdi*4]
0x2ee:  mov rcx, rbx
0x2f1:  mov r10, rbx
0x2f4:  movdqa xmm4, xmm1
0x2f8:  movdqa xmm5, xmm0
0x2fc:  jmp 0x319
0x2fe:  nop
0x300:  xorps xmm7, xmm7
0x303:  movups xmmword ptr [r11 + r10*4], xmm7
0x308:  add r10, 4
0x30c:  paddq xmm4, xmm2
0x310:  paddq xmm5, xmm2
0x314:  cmp r10, r9
0x317:  je 0x2c0
0x319:  test esi, esi
0x31b:  je 0x300
0x31d:  movdqa xmm6, xmm5
0x321:  psllq xmm6, 2
0x326:  paddq xmm6, xmm3
0x32a:  movdqa xmm8, xmm4
0x32f:  psllq xmm8, 2
0x335:  paddq xmm8, xmm3
0x33a:  xorps xmm7, xmm7
0x33d:  xor r14d, r14d
0x340:  movss xmm9, dword ptr [r15 + r14*4]
0x346:  shufps xmm9, xmm9, 0
0x34b:  movq xmm10, r14
0x350:  pshufd xmm10, xmm10, 0x44
0x356:  psllq xmm10, 2
0x35c:  movdqa xmm11, xmm6
0x361:  paddq xmm11, xmm10
0x366:  paddq xmm10, xmm8
0x36b:  movq rdi, xmm10
0x370:  pextrq r12, xmm10, 1
0x377:  pextrq rax, xmm11, 1
0x37e:  movq rbx, xmm11
0x383:  movss xmm10, dword ptr [rdi]
0x388:  insertps xmm10, dword ptr [r12], 0x10
0x390:  insertps xmm10, dword ptr [rbx], 0x20
0x397:  insertps xmm10, dword ptr [rax], 0x30
0x39e:  mulps xmm10, xmm9
0x3a2:  addps xmm7, xmm10
0x3a6:  inc r14
0x3a9:  cmp rsi, r14
0x3ac:  jne 0x340
0x3ae:  jmp 0x303
