! SPDX-License-Identifier: BSD-3-Clause
!
! Neighbourhood collectives in Fortran on a ring of ranks, blocking and nonblocking, and with -DPERSISTENT persistent
! ones. Built three times: with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08` (-DUSE_MPI_F08).
#if defined(USE_MPI_F08)
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#else
#define REQUEST integer
#define COMM integer
#define DATATYPE integer
#endif
program neighbourhood
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: n = 4  ! numbers for each neighbour, at most
  integer :: rank, ranks, left, right, error, begun, turn, i
  integer :: counts(2) = [n, n], places(2) = [0, n]
  integer(MPI_ADDRESS_KIND) :: offsets(2)
  integer, asynchronous :: mine(2 * n), gathered(2 * n), gathered_v(2 * n), theirs(2 * n), theirs_v(2 * n), theirs_w(2 * n)
  DATATYPE :: types(2)
  REQUEST :: requests(5)
  COMM :: ring, copy

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  ! No grid: the mpi_f08 of MPICH 4.0.2 asks for the neighbours in a graph.
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [left, right], [1, 1], 2, [left, right], [1, 1], &
                                      MPI_INFO_NULL, .false., ring, error)
  types = MPI_INTEGER
  offsets = [0, 4 * n]

  call begin(1)
  call MPI_Neighbor_allgather(mine, n, MPI_INTEGER, gathered, n, MPI_INTEGER, ring, error)
  call MPI_Neighbor_allgatherv(mine, n, MPI_INTEGER, gathered_v, counts, places, MPI_INTEGER, ring, error)
  call MPI_Neighbor_alltoall(mine, n, MPI_INTEGER, theirs, n, MPI_INTEGER, ring, error)
  call MPI_Neighbor_alltoallv(mine, counts, places, MPI_INTEGER, theirs_v, counts, places, MPI_INTEGER, ring, error)
  call MPI_Neighbor_alltoallw(mine, counts, offsets, types, theirs_w, counts, offsets, types, ring, error)
  call check('blocking')

  call MPI_Comm_dup(ring, copy, error)
  call begin(2)
  ! The first calls on the duplicate do not block.
  call MPI_Ineighbor_allgather(mine, n, MPI_INTEGER, gathered, n, MPI_INTEGER, copy, requests(1), error)
  call MPI_Ineighbor_allgatherv(mine, n, MPI_INTEGER, gathered_v, counts, places, MPI_INTEGER, copy, requests(2), error)
  call MPI_Ineighbor_alltoall(mine, n, MPI_INTEGER, theirs, n, MPI_INTEGER, copy, requests(3), error)
  call MPI_Ineighbor_alltoallv(mine, counts, places, MPI_INTEGER, theirs_v, counts, places, MPI_INTEGER, copy, &
                               requests(4), error)
  call MPI_Ineighbor_alltoallw(mine, counts, offsets, types, theirs_w, counts, offsets, types, copy, requests(5), error)
  call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE, error)
  call check('nonblocking')

#if defined(PERSISTENT)
  call MPI_Neighbor_allgather_init(mine, n, MPI_INTEGER, gathered, n, MPI_INTEGER, copy, MPI_INFO_NULL, requests(1), error)
  call MPI_Neighbor_allgatherv_init(mine, n, MPI_INTEGER, gathered_v, counts, places, MPI_INTEGER, copy, MPI_INFO_NULL, &
                                    requests(2), error)
  call MPI_Neighbor_alltoall_init(mine, n, MPI_INTEGER, theirs, n, MPI_INTEGER, copy, MPI_INFO_NULL, requests(3), error)
  call MPI_Neighbor_alltoallv_init(mine, counts, places, MPI_INTEGER, theirs_v, counts, places, MPI_INTEGER, copy, &
                                   MPI_INFO_NULL, requests(4), error)
  call MPI_Neighbor_alltoallw_init(mine, counts, offsets, types, theirs_w, counts, offsets, types, copy, MPI_INFO_NULL, &
                                   requests(5), error)
  do turn = 3, 5
    call begin(turn)
    call MPI_Startall(5, requests, error)
    call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE, error)
    call check('persistent')
  end do
  do i = 1, 5
    call MPI_Request_free(requests(i), error)
  end do
#endif
  call MPI_Comm_free(copy, error)
  call MPI_Comm_free(ring, error)
  if (rank == 0) print '(a)', 'all right'
  call MPI_Finalize(error)

contains

  ! To the left go the first n numbers, to the right the others.
  subroutine begin(number)
    integer, intent(in) :: number
    mine = [(number * 1000 + 100 * rank + i, i = 1, 2 * n)]
    gathered = -1
    gathered_v = -1
    theirs = -1
    theirs_v = -1
    theirs_w = -1
    begun = number
  end subroutine

  subroutine check(form)
    character(*), intent(in) :: form
    integer :: to_all(2 * n), to_me(2 * n)
    to_all(1:n) = [(begun * 1000 + 100 * left + i, i = 1, n)]
    to_all(n + 1:) = [(begun * 1000 + 100 * right + i, i = 1, n)]
    to_me(1:n) = to_all(1:n) + n
    to_me(n + 1:) = to_all(n + 1:)
    if (all(gathered == to_all) .and. all(gathered_v == to_all) .and. all(theirs == to_me) .and. &
        all(theirs_v == to_me) .and. all(theirs_w == to_me)) return
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', form
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
