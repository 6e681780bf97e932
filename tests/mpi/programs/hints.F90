! SPDX-License-Identifier: BSD-3-Clause
!
! Says by info keys which algorithms serve its communicators, in the three ways there are. Built twice: with mpif.h and
! with `use mpi_f08` (-DUSE_MPI_F08).
program hints
#if defined(USE_MPI_F08)
  use mpi_f08
#endif
  implicit none
#if !defined(USE_MPI_F08)
  include 'mpif.h'
#endif
#if defined(USE_MPI_F08)
  type(MPI_Comm) :: duplicate, part
  type(MPI_Info) :: info
#else
  integer :: duplicate, part, info
#endif
  integer :: rank, error, one, sum

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  one = 1
  call MPI_Info_create(info, error)
  call MPI_Info_set(info, 'stretto_allreduce', 'ring', error)
  call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, duplicate, error)
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, duplicate, error)
  call MPI_Info_set(info, 'stretto_allreduce', 'circulant', error)
  call MPI_Comm_set_info(duplicate, info, error)
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, duplicate, error)
  call MPI_Info_set(info, 'stretto_allreduce', 'linear', error)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, part, error)
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, part, error)
  if (rank == 0 .and. sum == 3) print '(a)', 'all right'
  call MPI_Finalize(error)
end program
