! SPDX-License-Identifier: BSD-3-Clause
!
! An ordinary Fortran program. Built three times: with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08`
! (-DUSE_MPI_F08).
program collectives
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: n = 3000
  integer :: rank, ranks, i, error
  double precision :: values(n), sums(n), place(2), best(2)
  integer :: numbers(n)
  integer, allocatable :: all(:)
  logical :: flag, flags
  complex :: z, product

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (all(10 * ranks))

  numbers = merge([(i, i = 1, n)], 0, rank == ranks - 1)
  call MPI_Bcast(numbers, n, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
  call check(all_equal(numbers, 1), 'bcast')

  values = rank
  call MPI_Allreduce(values, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check(maxval(abs(sums - ranks * (ranks - 1) / 2)) == 0, 'allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  call check(maxval(abs(values - (ranks - 1))) == 0, 'allreduce in place')

  values = 1
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, values, n, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD, error)
    call check(maxval(abs(values - ranks)) == 0, 'reduce in place')
  else
    call MPI_Reduce(values, sums, n, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  end if

  all = -1
  all(10 * rank + 1:10 * rank + 10) = [(10 * rank + i, i = 1, 10)]
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 10, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check(all_equal(all, 1), 'allgather in place')
  call MPI_Reduce_scatter_block(all, numbers, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all_equal(numbers(1:10) / ranks, 10 * rank + 1), 'reduce_scatter_block')

  flag = rank /= 1
  call MPI_Allreduce(flag, flags, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call check(flags .eqv. ranks == 1, 'allreduce of logicals')
  z = (0.0, 1.0)
  call MPI_Allreduce(z, product, 1, MPI_COMPLEX, MPI_PROD, MPI_COMM_WORLD, error)
  call check(abs(product - z ** ranks) < 1e-6, 'allreduce of complex numbers')
  place = [dble(mod(rank, 2)), dble(rank)]
  call MPI_Allreduce(place, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(best(2) == min(1, ranks - 1), 'allreduce of a place')

  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'all right'
  call MPI_Finalize(error)

contains

  logical function all_equal(found, first)
    integer, intent(in) :: found(:), first
    integer :: k
    all_equal = .true.
    do k = 1, size(found)
      all_equal = all_equal .and. found(k) == first + k - 1
    end do
  end function

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
