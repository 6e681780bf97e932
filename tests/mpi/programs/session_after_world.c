// SPDX-License-Identifier: BSD-3-Clause
//
// Messages in a session that begins after MPI_Finalize: their requests may have handles that Stretto's had before. One
// rank.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { messages = 20, rounds = 50 };

static void use_world(void) {
  int one = 1, sum = -1;
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);  // from now on nonblocking calls are served as well
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int exchange(MPI_Comm comm) {
  MPI_Request requests[messages];
  int got[messages], wrong = 0;
  for (int i = 0; i < messages; ++i) {
    got[i] = -1;
    MPI_Irecv(&got[i], 1, MPI_INT, 0, i, comm, &requests[i]);
  }
  for (int i = 0; i < messages; ++i) {
    int flag = 0;
    MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
    wrong += flag;
  }
  for (int i = 0; i < messages; ++i) {
    MPI_Send(&i, 1, MPI_INT, 0, i, comm);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    wrong += got[i] != i;
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int wrong = 0;
  alarm(60);  // rather than to hang
  MPI_Init(&argc, &argv);
  use_world();
  MPI_Finalize();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "after", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  for (int i = 0; i < rounds; ++i) wrong += exchange(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  puts(wrong ? "wrong" : "all right");
  return wrong != 0;
}
