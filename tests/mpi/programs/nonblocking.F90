! SPDX-License-Identifier: BSD-3-Clause
!
! Nonblocking collectives in Fortran, and with -DPERSISTENT persistent ones, alone and beside messages. Built three
! times: with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08` (-DUSE_MPI_F08). With -DNATIVE for a run without
! Stretto.
#if defined(USE_MPI_F08)
#define REQUEST type(MPI_Request)
#define STATUS(n) type(MPI_Status), dimension(n)
#define ITEM(s, k) s(k)
#define FIELD(s, name, k) s(k)%name
#else
#define REQUEST integer
#define STATUS(n) integer, dimension(MPI_STATUS_SIZE, n)
#define ITEM(s, k) s(:, k)
#define FIELD(s, name, k) s(name, k)
#endif
program nonblocking
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: n = 5000
  integer :: rank, ranks, left, right, i, error
  double precision, asynchronous :: values(n), sums(n), others(n)
  integer, asynchronous :: number, from_left(4), numbers(n)
  integer, allocatable, asynchronous :: counts(:), places(:), parts(:), received(:)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call MPI_Barrier(MPI_COMM_WORLD, error)  ! from now on nonblocking calls are served as well
  call mixed
  call one_after_the_other
#if defined(PERSISTENT)
  call persistent
#endif
  if (rank == 0) print '(a)', 'all right'
  call MPI_Finalize(error)

contains

  ! Between ranks r and s go mod(r + s, 3) numbers.
  subroutine mixed
    REQUEST :: requests(6)
    STATUS(6) :: statuses
    integer :: length
    allocate (counts(ranks), places(ranks), parts(3 * ranks), received(3 * ranks))
    counts = [(mod(rank + i, 3), i = 0, ranks - 1)]
    places = [(3 * i, i = 0, ranks - 1)]
    parts = [(1000 * rank + i, i = 0, 3 * ranks - 1)]
    received = -1
    values = [(rank + i, i = 1, n)]
    number = rank
    call MPI_Irecv(from_left, 4, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), error)
    call MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(2), error)
    requests(3) = MPI_REQUEST_NULL
    call MPI_Ialltoallv(parts, counts, places, MPI_INTEGER, received, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                        requests(4), error)
    call MPI_Isend(number, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(5), error)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(6), error)
    call MPI_Waitall(6, requests, statuses, error)
    call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 6)]), 'requests')
    call MPI_Get_count(ITEM(statuses, 1), MPI_INTEGER, length, error)
    call check(FIELD(statuses, MPI_SOURCE, 1) == left .and. FIELD(statuses, MPI_TAG, 1) == 5 .and. length == 1, 'status')
    call check(from_left(1) == left, 'message')
    call check(all([(values(i) == ranks * (ranks - 1) / 2 + ranks * i, i = 1, n)]), 'iallreduce in place')
    call check(all([(part_is_right(i), i = 0, ranks - 1)]), 'ialltoallv')
  end subroutine

  logical function part_is_right(from)
    integer, intent(in) :: from
    integer :: k
    part_is_right = .true.
    do k = 1, 3
      if (k <= counts(from + 1)) then
        part_is_right = part_is_right .and. received(3 * from + k) == 1000 * from + 3 * rank + k - 1
      else
        part_is_right = part_is_right .and. received(3 * from + k) == -1
      end if
    end do
  end function

  ! Places in the array are counted from one.
  subroutine one_after_the_other
    REQUEST :: requests(4)
    integer :: turn, done, which, some, all_of_them(4)
#if defined(USE_MPI_F08)
    integer, parameter :: first = 1  ! the mpi_f08 of MPICH 4.0.2 counts from zero
#else
    integer, parameter :: first = 2
#endif
    logical :: flag
    do turn = 1, 4
      values = rank
      sums = -1
      numbers = merge([(turn + i, i = 1, n)], -1, rank == ranks - 1)
      from_left = -1
      number = rank
      requests(1) = MPI_REQUEST_NULL
      call MPI_Ibcast(numbers, n, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, requests(2), error)
      call MPI_Iallreduce(values, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, requests(3), error)
      call MPI_Irecv(from_left, 4, MPI_INTEGER, left, turn, MPI_COMM_WORLD, requests(4), error)
      call MPI_Send(number, 1, MPI_INTEGER, right, turn, MPI_COMM_WORLD, error)
      done = 0
      do
        which = 0
        some = 1
        flag = .true.
        select case (turn)
        case (1)
          call MPI_Waitany(4, requests, which, MPI_STATUS_IGNORE, error)
        case (2)
          call MPI_Testany(4, requests, which, flag, MPI_STATUS_IGNORE, error)
        case (3)
          call MPI_Waitsome(4, requests, some, all_of_them, MPI_STATUSES_IGNORE, error)
        case (4)
          call MPI_Testsome(4, requests, some, all_of_them, MPI_STATUSES_IGNORE, error)
        end select
        ! MPICH 4.0.2 adds one to MPI_UNDEFINED as well.
        if (some == MPI_UNDEFINED .or. (flag .and. (which == MPI_UNDEFINED .or. which == MPI_UNDEFINED + 1))) exit
        if (turn > 2) call check(all(all_of_them(1:some) >= first .and. all_of_them(1:some) < 5), 'places')
        if (turn < 3 .and. flag) call check(which >= first .and. which < 5, 'place')
        if (flag) done = done + some
      end do
      call check(done == 3, 'number of completions')
      call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 4)]), 'requests one after the other')
      call check(all([(numbers(i) == turn + i, i = 1, n)]), 'ibcast')
      call check(all(sums == ranks - 1) .and. from_left(1) == left, 'iallreduce or message')
    end do
  end subroutine

#if defined(PERSISTENT)
  subroutine persistent
    REQUEST :: requests(3), alone
    integer :: turn
    logical :: flag
    call MPI_Allreduce_init(values, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, alone, error)
    call MPI_Allreduce_init(values, others, n, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, MPI_INFO_NULL, &
                            requests(1), error)
    call MPI_Recv_init(from_left, 4, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(2), error)
    call MPI_Send_init(number, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(3), error)
#if !defined(NATIVE)
    call MPI_Wait(alone, MPI_STATUS_IGNORE, error)  ! MPICH 4.0.2's own waits for an inactive one for ever
#endif
    do turn = 1, 4
      values = [(rank + turn * i, i = 1, n)]
      sums = -1
      others = -1
      from_left = -1
      number = rank + turn
      call MPI_Start(alone, error)
      call MPI_Startall(3, requests, error)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
      flag = .false.
      do while (.not. flag)
        call MPI_Test(alone, flag, MPI_STATUS_IGNORE, error)
      end do
      call check(alone /= MPI_REQUEST_NULL .and. requests(1) /= MPI_REQUEST_NULL, 'persistent requests')
      call check(all([(sums(i) == ranks * (ranks - 1) / 2 + ranks * turn * i, i = 1, n)]), 'allreduce_init')
      call check(all([(others(i) == turn * i, i = 1, n)]) .and. from_left(1) == left + turn, 'startall')
    end do
    call MPI_Request_free(alone, error)
    do i = 1, 3
      call MPI_Request_free(requests(i), error)
    end do
    call check(alone == MPI_REQUEST_NULL .and. requests(1) == MPI_REQUEST_NULL, 'freed requests')
  end subroutine
#endif

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
