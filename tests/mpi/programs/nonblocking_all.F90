! SPDX-License-Identifier: BSD-3-Clause
!
! Every nonblocking collective in Fortran, and with -DPERSISTENT every persistent one, started twice. Built three times:
! with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08` (-DUSE_MPI_F08).
#if defined(USE_MPI_F08)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#else
#define REQUEST integer
#define DATATYPE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif
program nonblocking_all
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: all_of_them = 17, n = 3, root = 0
  integer :: rank, ranks, error, turn, round, k, r, i
  integer, allocatable, asynchronous :: mine(:), got(:, :)
  integer, allocatable, asynchronous :: counts(:), places(:), bytes(:)
  DATATYPE, allocatable, asynchronous :: types(:)
  REQUEST :: requests(all_of_them)
  STATUS :: status
  logical :: flag

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)  ! from now on nonblocking calls are served as well
  allocate (mine(n * ranks), got(n * ranks, all_of_them))
  allocate (counts(ranks), places(ranks), bytes(ranks), types(ranks))
  counts = n
  places = [(n * r, r = 0, ranks - 1)]
  bytes = [(4 * n * r, r = 0, ranks - 1)]
  types = MPI_INTEGER

  call begin(1)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), error)
  call MPI_Ibcast(got(:, 2), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(2), error)
  call MPI_Igather(mine, n, MPI_INTEGER, got(:, 3), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(3), error)
  call MPI_Igatherv(mine, n, MPI_INTEGER, got(:, 4), counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, requests(4), &
                    error)
  call MPI_Iscatter(mine, n, MPI_INTEGER, got(:, 5), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(5), error)
  call MPI_Iscatterv(mine, counts, places, MPI_INTEGER, got(:, 6), n, MPI_INTEGER, root, MPI_COMM_WORLD, requests(6), &
                     error)
  call MPI_Iallgather(mine, n, MPI_INTEGER, got(:, 7), n, MPI_INTEGER, MPI_COMM_WORLD, requests(7), error)
  call MPI_Iallgatherv(mine, n, MPI_INTEGER, got(:, 8), counts, places, MPI_INTEGER, MPI_COMM_WORLD, requests(8), error)
  call MPI_Ialltoall(mine, n, MPI_INTEGER, got(:, 9), n, MPI_INTEGER, MPI_COMM_WORLD, requests(9), error)
  call MPI_Ialltoallv(mine, counts, places, MPI_INTEGER, got(:, 10), counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                      requests(10), error)
  call MPI_Ialltoallw(mine, counts, bytes, types, got(:, 11), counts, bytes, types, MPI_COMM_WORLD, requests(11), error)
  call MPI_Ireduce(mine, got(:, 12), n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, requests(12), error)
  call MPI_Iallreduce(mine, got(:, 13), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(13), error)
  call MPI_Ireduce_scatter(mine, got(:, 14), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(14), error)
  call MPI_Ireduce_scatter_block(mine, got(:, 15), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(15), error)
  call MPI_Iscan(mine, got(:, 16), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(16), error)
  call MPI_Iexscan(mine, got(:, 17), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(17), error)
  call complete
  call check(all([(requests(k) == MPI_REQUEST_NULL, k = 1, all_of_them)]), 'requests', 0)
  call look(1)

#if defined(PERSISTENT)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), error)
  call MPI_Bcast_init(got(:, 2), n, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), error)
  call MPI_Gather_init(mine, n, MPI_INTEGER, got(:, 3), n, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, &
                       requests(3), error)
  call MPI_Gatherv_init(mine, n, MPI_INTEGER, got(:, 4), counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, &
                        MPI_INFO_NULL, requests(4), error)
  call MPI_Scatter_init(mine, n, MPI_INTEGER, got(:, 5), n, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(5), error)
  call MPI_Scatterv_init(mine, counts, places, MPI_INTEGER, got(:, 6), n, MPI_INTEGER, root, MPI_COMM_WORLD, &
                         MPI_INFO_NULL, requests(6), error)
  call MPI_Allgather_init(mine, n, MPI_INTEGER, got(:, 7), n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(7), &
                          error)
  call MPI_Allgatherv_init(mine, n, MPI_INTEGER, got(:, 8), counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                           MPI_INFO_NULL, requests(8), error)
  call MPI_Alltoall_init(mine, n, MPI_INTEGER, got(:, 9), n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(9), &
                         error)
  call MPI_Alltoallv_init(mine, counts, places, MPI_INTEGER, got(:, 10), counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                          MPI_INFO_NULL, requests(10), error)
  call MPI_Alltoallw_init(mine, counts, bytes, types, got(:, 11), counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, &
                          requests(11), error)
  call MPI_Reduce_init(mine, got(:, 12), n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, MPI_INFO_NULL, requests(12), &
                       error)
  call MPI_Allreduce_init(mine, got(:, 13), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(13), error)
  call MPI_Reduce_scatter_init(mine, got(:, 14), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
                               requests(14), error)
  call MPI_Reduce_scatter_block_init(mine, got(:, 15), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
                                     requests(15), error)
  call MPI_Scan_init(mine, got(:, 16), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(16), error)
  call MPI_Exscan_init(mine, got(:, 17), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(17), error)
  do round = 2, 3
    call begin(round)
    call MPI_Startall(all_of_them, requests, error)
    call complete
    call look(round)
  end do
  do k = 1, all_of_them
    call check(requests(k) /= MPI_REQUEST_NULL, 'persistent request', k)
    call MPI_Request_free(requests(k), error)
  end do
#endif
  if (rank == 0) print '(a)', 'all right'
  call MPI_Finalize(error)

contains

  integer function value(from, at)
    integer, intent(in) :: from, at
    value = turn * (100 * from + at)
  end function

  subroutine begin(seed)
    integer, intent(in) :: seed
    turn = seed
    mine = [(value(rank, i), i = 1, n * ranks)]
    got = -1
    if (rank == root) got(:, 2) = mine
  end subroutine

  subroutine complete
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(requests(13), flag, status, error)  ! Open MPI 4.1.4 sets no flag if it is ignored
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(all_of_them, requests, flag, MPI_STATUSES_IGNORE, error)
    end do
  end subroutine

  ! The sum of ranks' values at a place, of those from 0 to below `end`.
  integer function sum_of(end, at)
    integer, intent(in) :: end, at
    sum_of = sum([(value(r, at), r = 0, end - 1)])
  end function

  subroutine look(seed)
    integer, intent(in) :: seed
    integer :: expected(n * ranks), own
    own = n * rank
    do k = 2, all_of_them
      expected = -1
      select case (k)
      case (2)
        expected(1:n) = [(value(root, i), i = 1, n)]
        if (rank == root) expected = mine
      case (3, 4)
        if (rank == root) expected = [((value(r, i), i = 1, n), r = 0, ranks - 1)]
      case (5, 6)
        expected(1:n) = [(value(root, own + i), i = 1, n)]
      case (7, 8)
        expected = [((value(r, i), i = 1, n), r = 0, ranks - 1)]
      case (9, 10, 11)
        expected = [((value(r, own + i), i = 1, n), r = 0, ranks - 1)]
      case (12)
        if (rank == root) expected(1:n) = [(sum_of(ranks, i), i = 1, n)]
      case (13)
        expected(1:n) = [(sum_of(ranks, i), i = 1, n)]
      case (14, 15)
        expected(1:n) = [(sum_of(ranks, own + i), i = 1, n)]
      case (16)
        expected(1:n) = [(sum_of(rank + 1, i), i = 1, n)]
      case (17)
        if (rank > 0) expected(1:n) = [(sum_of(rank, i), i = 1, n)]
      end select
      call check(all(got(:, k) == expected), 'result', 100 * seed + k)
    end do
  end subroutine

  subroutine check(right, what, number)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    integer, intent(in) :: number
    if (right) return
    print '(a, i0, 3a, i0)', 'rank ', rank, ': wrong: ', what, ' ', number
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
