! SPDX-License-Identifier: BSD-3-Clause
!
! Every rank learns the numbers of all ranks (MPI_Allgather) and their sums (MPI_Allreduce), and checks both.
program totals
  use mpi
  implicit none
  integer, parameter :: numbers = 1000
  integer :: rank, ranks, i, r, wrong, wrong_anywhere, error
  double precision :: mine(numbers), sums(numbers)
  double precision, allocatable :: everything(:, :)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (everything(numbers, ranks))
  mine = [(dble(rank + i), i = 1, numbers)]
  call MPI_Allgather(mine, numbers, MPI_DOUBLE_PRECISION, everything, numbers, MPI_DOUBLE_PRECISION, &
                     MPI_COMM_WORLD, error)
  call MPI_Allreduce(mine, sums, numbers, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = 0
  do i = 1, numbers
    do r = 1, ranks
      if (everything(i, r) /= dble(r - 1 + i)) wrong = wrong + 1
    end do
    if (sums(i) /= dble(ranks * (ranks - 1) / 2) + dble(ranks) * i) wrong = wrong + 1
  end do
  call MPI_Reduce(wrong, wrong_anywhere, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    if (wrong_anywhere == 0) then
      print '(a)', 'all right'
    else
      print '(i0, a)', wrong_anywhere, ' wrong'
    end if
  end if
  call MPI_Finalize(error)
end program totals
