	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.protected	gemm                    ; -- Begin function gemm
	.globl	gemm
	.p2align	8
	.type	gemm,@function
gemm:                                   ; @gemm
.Lfunc_begin0:
; %bb.0:
	.loc	1 68 12 prologue_end            ; <stdin>:68:12 @[ tiles/02_tiled.cl:11:24 @[ tiles/02_tiled.cl:10:1 ] ]
	s_clause 0x1
	s_load_b256 s[4:11], s[0:1], 0x0
	s_load_b64 s[2:3], s[0:1], 0x20
	v_dual_mov_b32 v9, 0 :: v_dual_and_b32 v10, 0x3ff, v0
	s_mov_b32 s16, s15
	.loc	1 73 12                         ; <stdin>:73:12 @[ tiles/02_tiled.cl:13:24 @[ tiles/02_tiled.cl:10:1 ] ]
	s_mov_b32 s15, 0
	v_bfe_u32 v0, v0, 10, 10
	.loc	2 13 40                         ; tiles/02_tiled.cl:13:40 @[ tiles/02_tiled.cl:10:1 ]
	s_lshl_b64 s[0:1], s[14:15], 4
	.loc	1 73 12                         ; <stdin>:73:12 @[ tiles/02_tiled.cl:14:27 @[ tiles/02_tiled.cl:10:1 ] ]
	s_mov_b32 s17, s15
	.loc	2 13 45                         ; tiles/02_tiled.cl:13:45 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32 v1, s0, s0, v10
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
	v_add_co_ci_u32_e64 v2, null, s1, 0, s0
	.loc	2 14 43                         ; tiles/02_tiled.cl:14:43 @[ tiles/02_tiled.cl:10:1 ]
	s_lshl_b64 s[16:17], s[16:17], 4
	.loc	2 14 48 is_stmt 0               ; tiles/02_tiled.cl:14:48 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32 v3, s1, s16, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v4, null, s17, 0, s1
	s_waitcnt lgkmcnt(0)
	s_ashr_i32 s13, s4, 31
	s_mov_b32 s12, s4
	.loc	2 19 34 is_stmt 1               ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	s_cmp_lg_u32 s6, 0
	v_cmp_gt_u64_e64 s0, s[12:13], v[1:2]
	.loc	2 19 5 is_stmt 0                ; tiles/02_tiled.cl:19:5 @[ tiles/02_tiled.cl:10:1 ]
	s_cbranch_scc0 .LBB0_12
; %bb.1:
	v_mad_i64_i32 v[5:6], null, s12, v0, 0
	s_ashr_i32 s7, s6, 31
	v_mul_lo_u32 v13, v4, s6
	v_mul_lo_u32 v14, v3, s7
	v_mad_u64_u32 v[7:8], null, v3, s6, 0
	s_lshl_b64 s[14:15], s[14:15], 6
	v_lshlrev_b64 v[5:6], 2, v[5:6]
	v_lshlrev_b32_e32 v11, 2, v10
	v_lshlrev_b32_e32 v20, 6, v0
	s_ashr_i32 s17, s5, 31
	s_mov_b32 s16, s5
	v_add3_u32 v8, v8, v14, v13
	v_add_co_u32 v13, vcc_lo, v5, s14
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v14, null, s15, v6, vcc_lo
	v_lshlrev_b64 v[5:6], 2, v[7:8]
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v7, vcc_lo, v13, v11
	v_add_co_ci_u32_e64 v8, null, 0, v14, vcc_lo
	v_cmp_gt_u64_e64 s1, s[16:17], v[3:4]
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v13, vcc_lo, v5, v11
	v_add_co_ci_u32_e64 v14, null, 0, v6, vcc_lo
	v_add_co_u32 v5, vcc_lo, s8, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_add_co_ci_u32_e64 v6, null, s9, v8, vcc_lo
	v_add_co_u32 v7, vcc_lo, s10, v13
	v_add_nc_u32_e32 v12, v20, v11
	v_add_co_ci_u32_e64 v8, null, s11, v14, vcc_lo
	v_add_nc_u32_e32 v13, 0x400, v20
	v_add_nc_u32_e32 v14, 0x408, v20
	v_add_nc_u32_e32 v15, 0x410, v20
	v_add_nc_u32_e32 v16, 0x418, v20
	v_add_nc_u32_e32 v17, 0x420, v20
	v_add_nc_u32_e32 v18, 0x428, v20
	v_add_nc_u32_e32 v19, 0x430, v20
	v_add_nc_u32_e32 v20, 0x438, v20
	s_lshl_b64 s[8:9], s[12:13], 6
	s_mov_b64 s[10:11], 0
	s_branch .LBB0_3
.LBB0_2:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	2 0 5                           ; tiles/02_tiled.cl:0:5
	s_or_b32 exec_lo, exec_lo, s4
	.loc	2 25 32 is_stmt 1               ; tiles/02_tiled.cl:25:32 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt vmcnt(0)
	ds_store_b32 v12, v21 offset:1024
	.loc	1 99 32                         ; <stdin>:99:32 @[ tiles/02_tiled.cl:26:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_waitcnt lgkmcnt(0)
	.loc	1 100 9                         ; <stdin>:100:9 @[ tiles/02_tiled.cl:26:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_barrier
	.loc	2 29 20                         ; tiles/02_tiled.cl:29:20 @[ tiles/02_tiled.cl:10:1 ]
	ds_load_2addr_b32 v[21:22], v11 offset1:16
	ds_load_2addr_b32 v[23:24], v11 offset0:32 offset1:48
	ds_load_2addr_b32 v[25:26], v11 offset0:64 offset1:80
	ds_load_2addr_b32 v[27:28], v11 offset0:96 offset1:112
	.loc	2 29 40 is_stmt 0               ; tiles/02_tiled.cl:29:40 @[ tiles/02_tiled.cl:10:1 ]
	ds_load_2addr_b32 v[29:30], v13 offset1:1
	ds_load_2addr_b32 v[31:32], v14 offset1:1
	ds_load_2addr_b32 v[33:34], v15 offset1:1
	ds_load_2addr_b32 v[35:36], v16 offset1:1
	.loc	2 29 20                         ; tiles/02_tiled.cl:29:20 @[ tiles/02_tiled.cl:10:1 ]
	ds_load_2addr_b32 v[37:38], v11 offset0:128 offset1:144
	ds_load_2addr_b32 v[39:40], v11 offset0:160 offset1:176
	ds_load_2addr_b32 v[41:42], v11 offset0:192 offset1:208
	ds_load_2addr_b32 v[43:44], v11 offset0:224 offset1:240
	.loc	2 29 40                         ; tiles/02_tiled.cl:29:40 @[ tiles/02_tiled.cl:10:1 ]
	ds_load_2addr_b32 v[45:46], v17 offset1:1
	ds_load_2addr_b32 v[47:48], v18 offset1:1
	ds_load_2addr_b32 v[49:50], v19 offset1:1
	ds_load_2addr_b32 v[51:52], v20 offset1:1
	.loc	2 19 45 is_stmt 1               ; tiles/02_tiled.cl:19:45 @[ tiles/02_tiled.cl:10:1 ]
	s_add_u32 s10, s10, 16
	s_addc_u32 s11, s11, 0
	.loc	2 19 34 is_stmt 0               ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32 v5, vcc_lo, v5, s8
	v_cmp_ge_u64_e64 s4, s[10:11], s[6:7]
	v_add_co_ci_u32_e64 v6, null, s9, v6, vcc_lo
	v_add_co_u32 v7, vcc_lo, v7, 64
	.loc	2 29 17 is_stmt 1               ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt lgkmcnt(11)
	v_fmac_f32_e32 v9, v21, v29
	.loc	2 19 34                         ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_ci_u32_e64 v8, null, 0, v8, vcc_lo
	.loc	2 19 5 is_stmt 0                ; tiles/02_tiled.cl:19:5 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b32 vcc_lo, exec_lo, s4
	.loc	2 29 17 is_stmt 1               ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	v_fmac_f32_e32 v9, v22, v30
	s_waitcnt lgkmcnt(10)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v23, v31
	v_fmac_f32_e32 v9, v24, v32
	s_waitcnt lgkmcnt(9)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v25, v33
	v_fmac_f32_e32 v9, v26, v34
	s_waitcnt lgkmcnt(8)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v27, v35
	v_fmac_f32_e32 v9, v28, v36
	s_waitcnt lgkmcnt(3)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v37, v45
	v_fmac_f32_e32 v9, v38, v46
	s_waitcnt lgkmcnt(2)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v39, v47
	v_fmac_f32_e32 v9, v40, v48
	s_waitcnt lgkmcnt(1)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v41, v49
	v_fmac_f32_e32 v9, v42, v50
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v9, v43, v51
	v_fmac_f32_e32 v9, v44, v52
	.loc	1 100 9                         ; <stdin>:100:9 @[ tiles/02_tiled.cl:30:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_barrier
	.loc	2 19 5                          ; tiles/02_tiled.cl:19:5 @[ tiles/02_tiled.cl:10:1 ]
	s_cbranch_vccnz .LBB0_7
.LBB0_3:                                ; =>This Inner Loop Header: Depth=1
	.loc	2 23 37                         ; tiles/02_tiled.cl:23:37 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32 v21, s4, v0, s10
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v22, null, 0, s11, s4
	v_cmp_gt_u64_e32 vcc_lo, s[6:7], v[21:22]
	v_dual_mov_b32 v21, 0 :: v_dual_mov_b32 v22, 0
	.loc	2 24 42                         ; tiles/02_tiled.cl:24:42 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b32 s14, s0, vcc_lo
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_saveexec_b32 s4, s14
	s_cbranch_execz .LBB0_5
; %bb.4:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	2 24 58 is_stmt 0               ; tiles/02_tiled.cl:24:58 @[ tiles/02_tiled.cl:10:1 ]
	global_load_b32 v22, v[5:6], off
.LBB0_5:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	2 0 58                          ; tiles/02_tiled.cl:0:58
	s_or_b32 exec_lo, exec_lo, s4
	v_add_co_u32 v23, s4, v10, s10
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_4) | instid1(SALU_CYCLE_1)
	v_add_co_ci_u32_e64 v24, null, 0, s11, s4
	.loc	2 24 32                         ; tiles/02_tiled.cl:24:32 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt vmcnt(0)
	ds_store_b32 v12, v22
	v_cmp_gt_u64_e32 vcc_lo, s[6:7], v[23:24]
	.loc	2 25 45 is_stmt 1               ; tiles/02_tiled.cl:25:45 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b32 s14, s1, vcc_lo
	s_and_saveexec_b32 s4, s14
	s_cbranch_execz .LBB0_2
; %bb.6:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	2 25 61 is_stmt 0               ; tiles/02_tiled.cl:25:61 @[ tiles/02_tiled.cl:10:1 ]
	global_load_b32 v21, v[7:8], off
	s_branch .LBB0_2
.LBB0_7:
	.loc	2 0 61                          ; tiles/02_tiled.cl:0:61
	s_branch .LBB0_9
.LBB0_8:
	v_mov_b32_e32 v9, 0
	s_ashr_i32 s17, s5, 31
	s_mov_b32 s16, s5
.LBB0_9:
	.loc	2 32 13 is_stmt 1               ; tiles/02_tiled.cl:32:13 @[ tiles/02_tiled.cl:10:1 ]
	v_cmp_gt_u64_e32 vcc_lo, s[12:13], v[1:2]
	v_cmp_gt_u64_e64 s0, s[16:17], v[3:4]
	.loc	2 32 17 is_stmt 0               ; tiles/02_tiled.cl:32:17 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b32 s0, vcc_lo, s0
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_saveexec_b32 s1, s0
	s_cbranch_execz .LBB0_11
; %bb.10:
	.loc	2 33 18 is_stmt 1               ; tiles/02_tiled.cl:33:18 @[ tiles/02_tiled.cl:10:1 ]
	v_mul_lo_u32 v0, v4, s12
	v_mul_lo_u32 v6, v3, s13
	v_mad_u64_u32 v[4:5], null, v3, s12, 0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add3_u32 v5, v5, v6, v0
	.loc	2 33 9 is_stmt 0                ; tiles/02_tiled.cl:33:9 @[ tiles/02_tiled.cl:10:1 ]
	v_lshlrev_b64 v[0:1], 2, v[1:2]
	v_lshlrev_b64 v[3:4], 2, v[4:5]
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v2, vcc_lo, s2, v3
	v_add_co_ci_u32_e64 v3, null, s3, v4, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v0, vcc_lo, v2, v0
	v_add_co_ci_u32_e64 v1, null, v3, v1, vcc_lo
	.loc	2 33 29                         ; tiles/02_tiled.cl:33:29 @[ tiles/02_tiled.cl:10:1 ]
	global_store_b32 v[0:1], v9, off
.LBB0_11:
	.loc	2 34 1 is_stmt 1                ; tiles/02_tiled.cl:34:1
	s_endpgm
.LBB0_12:
                                        ; implicit-def: $vgpr9
                                        ; implicit-def: $sgpr16_sgpr17
	.loc	2 0 1 is_stmt 0                 ; tiles/02_tiled.cl:0:1
	s_cbranch_execnz .LBB0_8
	s_branch .LBB0_9
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel gemm
		.amdhsa_group_segment_fixed_size 2048
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_count 14
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 1
		.amdhsa_next_free_vgpr 53
		.amdhsa_next_free_sgpr 18
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 8
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	gemm, .Lfunc_end0-gemm
                                        ; -- End function
	.set gemm.num_vgpr, 53
	.set gemm.num_agpr, 0
	.set gemm.numbered_sgpr, 18
	.set gemm.num_named_barrier, 0
	.set gemm.private_seg_size, 0
	.set gemm.uses_vcc, 1
	.set gemm.uses_flat_scratch, 0
	.set gemm.has_dyn_sized_stack, 0
	.set gemm.has_recursion, 0
	.set gemm.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 1004
; TotalNumSgprs: 20
; NumVgprs: 53
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 2048 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 6
; NumSGPRsForWavesPerEU: 20
; NumVGPRsForWavesPerEU: 53
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 14
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 1
	.text
	.protected	__clang_ocl_kern_imp_gemm ; -- Begin function __clang_ocl_kern_imp_gemm
	.globl	__clang_ocl_kern_imp_gemm
	.p2align	2
	.type	__clang_ocl_kern_imp_gemm,@function
__clang_ocl_kern_imp_gemm:              ; @__clang_ocl_kern_imp_gemm
.Lfunc_begin1:
	.loc	2 10 0 is_stmt 1                ; tiles/02_tiled.cl:10:0
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s0, s13
	.loc	1 73 12 prologue_end            ; <stdin>:73:12 @[ tiles/02_tiled.cl:13:24 ]
	s_mov_b32 s13, 0
	v_and_b32_e32 v19, 0x3ff, v31
	v_bfe_u32 v20, v31, 10, 10
	.loc	1 73 12 is_stmt 0               ; <stdin>:73:12 @[ tiles/02_tiled.cl:14:27 ]
	s_mov_b32 s1, s13
	.loc	2 13 40 is_stmt 1               ; tiles/02_tiled.cl:13:40
	s_lshl_b64 s[2:3], s[12:13], 4
	.loc	2 14 43                         ; tiles/02_tiled.cl:14:43
	s_lshl_b64 s[0:1], s[0:1], 4
	.loc	2 13 45                         ; tiles/02_tiled.cl:13:45
	v_add_co_u32 v11, s2, s2, v19
	.loc	2 14 48                         ; tiles/02_tiled.cl:14:48
	v_add_co_u32 v13, s0, s0, v20
	v_mov_b32_e32 v9, v1
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           4
        .type_name:      int
        .value_kind:     by_value
      - .offset:         4
        .size:           4
        .type_name:      int
        .value_kind:     by_value
      - .offset:         8
        .size:           4
        .type_name:      int
        .value_kind:     by_value
      - .address_space:  global
        .is_const:       true
        .offset:         16
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         24
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         32
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
    .group_segment_fixed_size: 2048
    .kernarg_segment_align: 8
    .kernarg_segment_size: 40
    .language:       OpenCL C
    .language_version:
      - 1
      - 2
    .max_flat_workgroup_size: 256
    .name:           gemm
    .private_segment_fixed_size: 0
    .sgpr_count:     20
    .sgpr_spill_count: 0
    .symbol:         gemm.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     53
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
