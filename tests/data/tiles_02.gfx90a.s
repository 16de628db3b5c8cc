	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.text
	.protected	gemm                    ; -- Begin function gemm
	.globl	gemm
	.p2align	8
	.type	gemm,@function
gemm:                                   ; @gemm
.Lfunc_begin0:
	.loc	1 10 0                          ; tiles/02_tiled.cl:10:0
; %bb.0:
	s_mov_b32 s0, s7
	.loc	2 68 12 prologue_end            ; <stdin>:68:12 @[ tiles/02_tiled.cl:11:24 @[ tiles/02_tiled.cl:10:1 ] ]
	s_load_dwordx8 s[8:15], s[4:5], 0x0
	s_load_dwordx2 s[16:17], s[4:5], 0x20
	.loc	2 73 12                         ; <stdin>:73:12 @[ tiles/02_tiled.cl:13:24 @[ tiles/02_tiled.cl:10:1 ] ]
	s_mov_b32 s7, 0
	v_and_b32_e32 v4, 0x3ff, v0
	.loc	1 13 40                         ; tiles/02_tiled.cl:13:40 @[ tiles/02_tiled.cl:10:1 ]
	s_lshl_b64 s[2:3], s[6:7], 4
	v_bfe_u32 v6, v0, 10, 10
	.loc	1 13 45 is_stmt 0               ; tiles/02_tiled.cl:13:45 @[ tiles/02_tiled.cl:10:1 ]
	v_mov_b32_e32 v1, s3
	v_add_co_u32_e32 v0, vcc, s2, v4
	.loc	2 73 12 is_stmt 1               ; <stdin>:73:12 @[ tiles/02_tiled.cl:14:27 @[ tiles/02_tiled.cl:10:1 ] ]
	s_mov_b32 s1, s7
	.loc	1 13 45                         ; tiles/02_tiled.cl:13:45 @[ tiles/02_tiled.cl:10:1 ]
	v_addc_co_u32_e32 v1, vcc, 0, v1, vcc
	.loc	1 14 43                         ; tiles/02_tiled.cl:14:43 @[ tiles/02_tiled.cl:10:1 ]
	s_lshl_b64 s[0:1], s[0:1], 4
	.loc	1 14 48 is_stmt 0               ; tiles/02_tiled.cl:14:48 @[ tiles/02_tiled.cl:10:1 ]
	v_mov_b32_e32 v3, s1
	v_add_co_u32_e32 v2, vcc, s0, v6
	s_waitcnt lgkmcnt(0)
	s_ashr_i32 s5, s8, 31
	s_mov_b32 s4, s8
	v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
	.loc	1 19 34 is_stmt 1               ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	s_cmp_lg_u32 s10, 0
	v_cmp_gt_u64_e64 s[0:1], s[4:5], v[0:1]
	.loc	1 19 5 is_stmt 0                ; tiles/02_tiled.cl:19:5 @[ tiles/02_tiled.cl:10:1 ]
	s_cbranch_scc0 .LBB0_12
; %bb.1:
	v_mad_i64_i32 v[8:9], s[20:21], s4, v6, 0
	v_lshlrev_b64 v[8:9], 2, v[8:9]
	s_lshl_b64 s[6:7], s[6:7], 6
	v_mov_b32_e32 v10, s7
	v_add_co_u32_e32 v8, vcc, s6, v8
	v_lshlrev_b32_e32 v5, 2, v4
	v_addc_co_u32_e32 v9, vcc, v9, v10, vcc
	v_add_co_u32_e32 v8, vcc, v8, v5
	v_addc_co_u32_e32 v9, vcc, 0, v9, vcc
	s_ashr_i32 s11, s10, 31
	v_mov_b32_e32 v10, s13
	v_add_co_u32_e32 v8, vcc, s12, v8
	v_addc_co_u32_e32 v9, vcc, v10, v9, vcc
	v_mul_lo_u32 v13, v3, s10
	v_mul_lo_u32 v14, v2, s11
	v_mad_u64_u32 v[10:11], s[12:13], v2, s10, 0
	v_add3_u32 v11, v11, v14, v13
	v_lshlrev_b64 v[10:11], 2, v[10:11]
	v_add_co_u32_e32 v10, vcc, v10, v5
	v_addc_co_u32_e32 v11, vcc, 0, v11, vcc
	v_lshlrev_b32_e32 v12, 6, v6
	s_ashr_i32 s19, s9, 31
	s_mov_b32 s18, s9
	s_lshl_b64 s[6:7], s[4:5], 6
	v_mov_b32_e32 v13, s15
	v_add_co_u32_e32 v10, vcc, s14, v10
	v_mov_b32_e32 v15, 0
	v_add_u32_e32 v7, v12, v5
	v_cmp_gt_u64_e64 s[2:3], s[18:19], v[2:3]
	v_addc_co_u32_e32 v11, vcc, v13, v11, vcc
	s_mov_b64 s[12:13], 0
	v_add_u32_e32 v16, 0x400, v12
	v_add_u32_e32 v17, 0x408, v12
	v_add_u32_e32 v18, 0x410, v12
	v_add_u32_e32 v19, 0x418, v12
	v_add_u32_e32 v20, 0x420, v12
	v_add_u32_e32 v21, 0x428, v12
	v_add_u32_e32 v22, 0x430, v12
	v_add_u32_e32 v23, 0x438, v12
	v_mov_b32_e32 v24, s7
	v_pk_mov_b32 v[12:13], s[10:11], s[10:11] op_sel:[0,1]
	v_mov_b32_e32 v14, v15
	s_branch .LBB0_3
.LBB0_2:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	1 0 5                           ; tiles/02_tiled.cl:0:5
	s_or_b64 exec, exec, s[14:15]
	.loc	1 25 32 is_stmt 1               ; tiles/02_tiled.cl:25:32 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt vmcnt(0)
	ds_write_b32 v7, v25 offset:1024
	.loc	2 99 32                         ; <stdin>:99:32 @[ tiles/02_tiled.cl:26:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_waitcnt lgkmcnt(0)
	.loc	2 100 9                         ; <stdin>:100:9 @[ tiles/02_tiled.cl:26:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_barrier
	.loc	1 29 20                         ; tiles/02_tiled.cl:29:20 @[ tiles/02_tiled.cl:10:1 ]
	ds_read2_b32 v[26:27], v5 offset1:16
	ds_read2_b32 v[28:29], v5 offset0:32 offset1:48
	ds_read2_b32 v[30:31], v5 offset0:64 offset1:80
	ds_read2_b32 v[32:33], v5 offset0:96 offset1:112
	.loc	1 29 40 is_stmt 0               ; tiles/02_tiled.cl:29:40 @[ tiles/02_tiled.cl:10:1 ]
	ds_read2_b32 v[34:35], v16 offset1:1
	ds_read2_b32 v[36:37], v17 offset1:1
	ds_read2_b32 v[38:39], v18 offset1:1
	ds_read2_b32 v[40:41], v19 offset1:1
	.loc	1 29 20                         ; tiles/02_tiled.cl:29:20 @[ tiles/02_tiled.cl:10:1 ]
	ds_read2_b32 v[42:43], v5 offset0:128 offset1:144
	ds_read2_b32 v[44:45], v5 offset0:160 offset1:176
	ds_read2_b32 v[46:47], v5 offset0:192 offset1:208
	ds_read2_b32 v[48:49], v5 offset0:224 offset1:240
	.loc	1 29 40                         ; tiles/02_tiled.cl:29:40 @[ tiles/02_tiled.cl:10:1 ]
	ds_read2_b32 v[50:51], v20 offset1:1
	ds_read2_b32 v[52:53], v21 offset1:1
	ds_read2_b32 v[54:55], v22 offset1:1
	ds_read2_b32 v[56:57], v23 offset1:1
	.loc	1 29 17                         ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt lgkmcnt(11)
	v_fmac_f32_e32 v14, v26, v34
	v_fmac_f32_e32 v14, v27, v35
	s_waitcnt lgkmcnt(10)
	v_fmac_f32_e32 v14, v28, v36
	v_fmac_f32_e32 v14, v29, v37
	s_waitcnt lgkmcnt(9)
	v_fmac_f32_e32 v14, v30, v38
	v_fmac_f32_e32 v14, v31, v39
	s_waitcnt lgkmcnt(8)
	v_fmac_f32_e32 v14, v32, v40
	v_fmac_f32_e32 v14, v33, v41
	s_waitcnt lgkmcnt(3)
	v_fmac_f32_e32 v14, v42, v50
	v_fmac_f32_e32 v14, v43, v51
	.loc	1 19 34 is_stmt 1               ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32_e32 v8, vcc, s6, v8
	.loc	1 29 17                         ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt lgkmcnt(2)
	v_fmac_f32_e32 v14, v44, v52
	.loc	1 19 34                         ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_addc_co_u32_e32 v9, vcc, v9, v24, vcc
	.loc	1 29 17                         ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	v_fmac_f32_e32 v14, v45, v53
	.loc	1 19 45                         ; tiles/02_tiled.cl:19:45 @[ tiles/02_tiled.cl:10:1 ]
	s_add_u32 s12, s12, 16
	.loc	1 19 34 is_stmt 0               ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_add_co_u32_e32 v10, vcc, 64, v10
	.loc	1 29 17 is_stmt 1               ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt lgkmcnt(1)
	v_fmac_f32_e32 v14, v46, v54
	.loc	1 19 34                         ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_addc_co_u32_e32 v11, vcc, 0, v11, vcc
	.loc	1 19 45 is_stmt 0               ; tiles/02_tiled.cl:19:45 @[ tiles/02_tiled.cl:10:1 ]
	s_addc_u32 s13, s13, 0
	.loc	1 29 17 is_stmt 1               ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	v_fmac_f32_e32 v14, v47, v55
	.loc	1 19 34                         ; tiles/02_tiled.cl:19:34 @[ tiles/02_tiled.cl:10:1 ]
	v_cmp_ge_u64_e32 vcc, s[12:13], v[12:13]
	.loc	1 29 17                         ; tiles/02_tiled.cl:29:17 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v14, v48, v56
	v_fmac_f32_e32 v14, v49, v57
	.loc	2 100 9                         ; <stdin>:100:9 @[ tiles/02_tiled.cl:30:9 @[ tiles/02_tiled.cl:10:1 ] ]
	s_barrier
	.loc	1 19 5                          ; tiles/02_tiled.cl:19:5 @[ tiles/02_tiled.cl:10:1 ]
	s_cbranch_vccnz .LBB0_7
.LBB0_3:                                ; =>This Inner Loop Header: Depth=1
	.loc	1 23 37                         ; tiles/02_tiled.cl:23:37 @[ tiles/02_tiled.cl:10:1 ]
	v_mov_b32_e32 v25, s13
	v_add_co_u32_e32 v26, vcc, s12, v6
	v_addc_co_u32_e32 v27, vcc, 0, v25, vcc
	v_cmp_gt_u64_e32 vcc, s[10:11], v[26:27]
	.loc	1 24 42                         ; tiles/02_tiled.cl:24:42 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b64 s[20:21], s[0:1], vcc
	v_mov_b32_e32 v25, v15
	s_and_saveexec_b64 s[14:15], s[20:21]
	s_cbranch_execz .LBB0_5
; %bb.4:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	1 24 58 is_stmt 0               ; tiles/02_tiled.cl:24:58 @[ tiles/02_tiled.cl:10:1 ]
	global_load_dword v25, v[8:9], off
.LBB0_5:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	1 0 58                          ; tiles/02_tiled.cl:0:58
	s_or_b64 exec, exec, s[14:15]
	v_mov_b32_e32 v27, s13
	v_add_co_u32_e32 v26, vcc, s12, v4
	v_addc_co_u32_e32 v27, vcc, 0, v27, vcc
	v_cmp_gt_u64_e32 vcc, s[10:11], v[26:27]
	.loc	1 24 32                         ; tiles/02_tiled.cl:24:32 @[ tiles/02_tiled.cl:10:1 ]
	s_waitcnt vmcnt(0)
	ds_write_b32 v7, v25
	.loc	1 25 45 is_stmt 1               ; tiles/02_tiled.cl:25:45 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b64 s[20:21], s[2:3], vcc
	.loc	1 25 34 is_stmt 0               ; tiles/02_tiled.cl:25:34 @[ tiles/02_tiled.cl:10:1 ]
	v_mov_b32_e32 v25, 0
	.loc	1 25 45                         ; tiles/02_tiled.cl:25:45 @[ tiles/02_tiled.cl:10:1 ]
	s_and_saveexec_b64 s[14:15], s[20:21]
	s_cbranch_execz .LBB0_2
; %bb.6:                                ;   in Loop: Header=BB0_3 Depth=1
	.loc	1 25 61                         ; tiles/02_tiled.cl:25:61 @[ tiles/02_tiled.cl:10:1 ]
	global_load_dword v25, v[10:11], off
	s_branch .LBB0_2
.LBB0_7:
	.loc	1 0 61                          ; tiles/02_tiled.cl:0:61
	s_branch .LBB0_9
.LBB0_8:
	s_ashr_i32 s19, s9, 31
	s_mov_b32 s18, s9
	.loc	1 18 10 is_stmt 1               ; tiles/02_tiled.cl:18:10 @[ tiles/02_tiled.cl:10:1 ]
	v_mov_b32_e32 v14, 0
.LBB0_9:
	.loc	1 32 13                         ; tiles/02_tiled.cl:32:13 @[ tiles/02_tiled.cl:10:1 ]
	v_cmp_gt_u64_e32 vcc, s[4:5], v[0:1]
	v_cmp_gt_u64_e64 s[0:1], s[18:19], v[2:3]
	.loc	1 32 17 is_stmt 0               ; tiles/02_tiled.cl:32:17 @[ tiles/02_tiled.cl:10:1 ]
	s_and_b64 s[0:1], vcc, s[0:1]
	s_and_saveexec_b64 s[2:3], s[0:1]
	s_cbranch_execz .LBB0_11
; %bb.10:
	.loc	1 33 18 is_stmt 1               ; tiles/02_tiled.cl:33:18 @[ tiles/02_tiled.cl:10:1 ]
	v_mul_lo_u32 v4, v3, s4
	v_mul_lo_u32 v5, v2, s5
	v_mad_u64_u32 v[2:3], s[0:1], v2, s4, 0
	v_add3_u32 v3, v3, v5, v4
	.loc	1 33 9 is_stmt 0                ; tiles/02_tiled.cl:33:9 @[ tiles/02_tiled.cl:10:1 ]
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	v_mov_b32_e32 v4, s17
	v_add_co_u32_e32 v2, vcc, s16, v2
	v_addc_co_u32_e32 v3, vcc, v4, v3, vcc
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	v_add_co_u32_e32 v0, vcc, v2, v0
	v_addc_co_u32_e32 v1, vcc, v3, v1, vcc
	.loc	1 33 29                         ; tiles/02_tiled.cl:33:29 @[ tiles/02_tiled.cl:10:1 ]
	global_store_dword v[0:1], v14, off
.LBB0_11:
	.loc	1 34 1 is_stmt 1                ; tiles/02_tiled.cl:34:1
	s_endpgm
.LBB0_12:
                                        ; implicit-def: $vgpr14
                                        ; implicit-def: $sgpr18_sgpr19
	.loc	1 0 1 is_stmt 0                 ; tiles/02_tiled.cl:0:1
	s_cbranch_execnz .LBB0_8
	s_branch .LBB0_9
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel gemm
		.amdhsa_group_segment_fixed_size 2048
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 1
		.amdhsa_next_free_vgpr 58
		.amdhsa_next_free_sgpr 22
		.amdhsa_accum_offset 60
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
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
	.set gemm.num_vgpr, 58
	.set gemm.num_agpr, 0
	.set gemm.numbered_sgpr, 22
	.set gemm.num_named_barrier, 0
	.set gemm.private_seg_size, 0
	.set gemm.uses_vcc, 1
	.set gemm.uses_flat_scratch, 0
	.set gemm.has_dyn_sized_stack, 0
	.set gemm.has_recursion, 0
	.set gemm.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 856
; TotalNumSgprs: 26
; NumVgprs: 58
; NumAgprs: 0
; TotalNumVgprs: 58
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 2048 bytes/workgroup (compile time only)
; SGPRBlocks: 3
; VGPRBlocks: 7
; NumSGPRsForWavesPerEU: 26
; NumVGPRsForWavesPerEU: 58
; AccumOffset: 60
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 1
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 14
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_gemm ; -- Begin function __clang_ocl_kern_imp_gemm
	.globl	__clang_ocl_kern_imp_gemm
	.p2align	2
	.type	__clang_ocl_kern_imp_gemm,@function
__clang_ocl_kern_imp_gemm:              ; @__clang_ocl_kern_imp_gemm
.Lfunc_begin1:
	.loc	1 10 0 is_stmt 1                ; tiles/02_tiled.cl:10:0
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s4, s13
	.loc	2 73 12 prologue_end            ; <stdin>:73:12 @[ tiles/02_tiled.cl:13:24 ]
	s_mov_b32 s13, 0
	v_and_b32_e32 v16, 0x3ff, v31
	.loc	1 13 40                         ; tiles/02_tiled.cl:13:40
	s_lshl_b64 s[6:7], s[12:13], 4
	v_mov_b32_e32 v12, v1
	.loc	1 13 45 is_stmt 0               ; tiles/02_tiled.cl:13:45
	v_mov_b32_e32 v1, s7
	v_add_co_u32_e32 v10, vcc, s6, v16
	.loc	2 73 12 is_stmt 1               ; <stdin>:73:12 @[ tiles/02_tiled.cl:14:27 ]
	s_mov_b32 s5, s13
	v_bfe_u32 v18, v31, 10, 10
	.loc	1 13 45                         ; tiles/02_tiled.cl:13:45
	v_addc_co_u32_e32 v11, vcc, 0, v1, vcc
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     26
    .sgpr_spill_count: 0
    .symbol:         gemm.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     58
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
