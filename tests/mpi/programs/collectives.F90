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
  integer, allocatable :: all(:), counts(:), places(:), bytes(:)
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

  call parts

  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'all right'
  call MPI_Finalize(error)

contains

  ! Between any two ranks go two numbers.
  subroutine parts
    integer :: two(2), sum
#if defined(USE_MPI_F08)
    type(MPI_Datatype), allocatable :: kinds(:)
#else
    integer, allocatable :: kinds(:)
#endif
    allocate (counts(ranks), places(ranks), bytes(ranks), kinds(ranks))
    counts = 2
    places = [(2 * i, i = 0, ranks - 1)]
    bytes = places * storage_size(i) / 8
    kinds = MPI_INTEGER
    two = [2 * rank + 1, 2 * rank + 2]

    all = -1
    call MPI_Gather(two, 2, MPI_INTEGER, all, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call check(rank /= 0 .or. all_equal(all(1:2 * ranks), 1), 'gather')
    two = -1
    call MPI_Scatter(all, 2, MPI_INTEGER, two, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call check(all_equal(two, 2 * rank + 1), 'scatter')
    call MPI_Gatherv(two, 2, MPI_INTEGER, all, counts, places, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    call check(rank /= ranks - 1 .or. all_equal(all(1:2 * ranks), 1), 'gatherv')
    two = -1
    call MPI_Scatterv(all, counts, places, MPI_INTEGER, two, 2, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    call check(all_equal(two, 2 * rank + 1), 'scatterv')
    all = -1
    call MPI_Allgatherv(two, 2, MPI_INTEGER, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(all_equal(all(1:2 * ranks), 1), 'allgatherv')

    ! All have 1, 2, 3, …: everybody gets its own part from everyone.
    call MPI_Alltoall(all, 2, MPI_INTEGER, numbers, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(same_parts(), 'alltoall')
    numbers = -1
    call MPI_Alltoallv(all, counts, places, MPI_INTEGER, numbers, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(same_parts(), 'alltoallv')
    numbers = -1
    call MPI_Alltoallw(all, counts, bytes, kinds, numbers, counts, bytes, kinds, MPI_COMM_WORLD, error)
    call check(same_parts(), 'alltoallw')

    call MPI_Reduce_scatter(all, two, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call check(all_equal(two, 2 * rank + 1), 'reduce_scatter')
    sum = -1
    call MPI_Scan(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(sum == (rank + 1) * (rank + 2) / 2, 'scan')
    sum = -1
    call MPI_Exscan(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(sum == merge(-1, rank * (rank + 1) / 2, rank == 0), 'exscan')
  end subroutine

  logical function same_parts()
    integer :: k
    same_parts = .true.
    do k = 1, ranks
      same_parts = same_parts .and. all_equal(numbers(2 * k - 1:2 * k), 2 * rank + 1)
    end do
  end function

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
