/* SPDX-License-Identifier: BSD-3-Clause */

//: constants
/* The vector is cut into BLOCKS, each part into PIECES. SLOTS are for blocks on their way. A round combines ARRIVING
   blocks and has MOST messages of LONGEST blocks at most. SIGNALS: messages without elements are sent, too. */
//: types
#define CHECKED(call) do { const int failed = (call); if (failed != MPI_SUCCESS) return failed; } while (0)

enum { TAG = 21363 }; /* and up, of all messages: no others of the communicator may have it during a call */

/* Blocks first to first + count - 1 of a buffer, counted around. WORK has blocks on their way. */
enum { INPUT, OUTPUT, WORK, NONE };
struct range { int buffer, first, count; };
#define LIST(...) ((const struct range[]){__VA_ARGS__, {NONE, 0, 0}})

/* The input or the output, as the call describes it: a part for each rank, or one in all. */
struct side {
  char* base;
  MPI_Datatype type;
  MPI_Aint extent;
  int count;                  /* elements of each part, */
  const int *counts, *displs; /* or these, and where they begin; NULL: one behind the other */
  int own;                    /* nothing but the own part is here */
};

struct run {
  struct side sides[2]; /* INPUT and OUTPUT */
  int sizes;            /* the one that knows the size of every block; what is on its way is of its type */
  int me, program;
  MPI_Op op;
  MPI_Comm comm;
  MPI_Aint begin, elements; /* of each part */
  MPI_Aint most;            /* elements of a block */
  MPI_Aint arriving;        /* elements that are to be combined */
  char* room;               /* for WORK, for these, and for one block more */
  MPI_Request* requests;
  int tag, round, pending, code;
  int acts; /* the messages of the round are through: now the rest of it */
};

struct piece {
  char* at;
  int count;
  MPI_Datatype type;
  int made; /* the type is to be freed */
};

static int mod(int n, int modulus) { return (n % modulus + modulus) % modulus; }

//: side
static struct side side_of(const void* base, int count, const int* counts, const int* displs, MPI_Datatype type) {
  struct side side = {(char*)base, type, 0, count, counts, displs, 0};
  MPI_Aint lower;
  MPI_Type_get_extent(type, &lower, &side.extent);
  return side;
}

//: piece
static MPI_Aint least(MPI_Aint a, MPI_Aint b) { return a < b ? a : b; }
static void note(struct run* s, int code) { s->code = s->code == MPI_SUCCESS ? code : s->code; }

static struct piece piece_of(const struct run* s, int buffer, int slot) {
  const struct side* side = &s->sides[buffer == WORK ? s->sizes : buffer];
  const int block = buffer == WORK ? BLOCK_IN(s, slot) : mod(slot, BLOCKS), part = block / PIECES;
  const MPI_Aint all = side->counts == NULL ? side->count : side->counts[part];
  const MPI_Aint before = least(all, s->begin), now = least(all - before, s->elements);
  const MPI_Aint first = now * (block % PIECES) / PIECES, end = now * (block % PIECES + 1) / PIECES;
  MPI_Aint at = first + before + (side->own ? 0 : side->displs != NULL ? side->displs[part] : part * all);
  if (buffer == WORK) at = slot * s->most;
  return (struct piece){(buffer == WORK ? s->room : side->base) + at * side->extent, (int)(end - first), side->type, 0};
}

//: one_block
static int pieces_of(const struct run* s, const struct range* list, struct piece* pieces) {
  pieces[0] = piece_of(s, list->buffer, list->first);
  return 1;
}

//: blocks
static int pieces_of(const struct run* s, const struct range* list, struct piece* pieces) {
  int n = 0;
  for (; list->buffer != NONE; ++list)
    for (int i = 0; i < list->count; ++i) pieces[n++] = piece_of(s, list->buffer, list->first + i);
  return n;
}

//: describe
/* What does not lie together is described by a type. */
static struct piece message_of(struct run* s, const struct range* list) {
  struct piece pieces[LONGEST];
  int n = 0, lengths[LONGEST];
  MPI_Aint places[LONGEST], extent = 0;
  MPI_Datatype types[LONGEST];
  for (int i = 0, all = pieces_of(s, list, pieces); i < all; ++i) {
    struct piece* last = n == 0 ? NULL : &pieces[n - 1];
    if (pieces[i].count == 0) continue;
    if (n > 0 && pieces[i].at == last->at + last->count * extent && pieces[i].type == last->type &&
        last->count <= INT_MAX - pieces[i].count) {
      last->count += pieces[i].count;
      continue;
    }
    MPI_Type_get_extent(pieces[i].type, &(MPI_Aint){0}, &extent);
    pieces[n++] = pieces[i];
  }
  if (n <= 1) return n == 1 ? pieces[0] : (struct piece){NULL, 0, MPI_BYTE, 0};
  for (int i = 0; i < n; ++i) {
    MPI_Get_address(pieces[i].at, &places[i]);
    lengths[i] = pieces[i].count;
    types[i] = pieces[i].type;
  }
  struct piece message = {MPI_BOTTOM, 1, MPI_DATATYPE_NULL, 1};
  note(s, MPI_Type_create_struct(n, lengths, places, types, &message.type));
  note(s, MPI_Type_commit(&message.type));
  return message;
}

static void forget(struct piece* message) {
  if (message->made) MPI_Type_free(&message->type);
}

//: one_piece
static struct piece message_of(struct run* s, const struct range* list) {
  return piece_of(s, list->buffer, list->first);
}

static void forget(struct piece* message) { (void)message; }

//: post
static void post(struct run* s, int sends, int peer, const struct range* blocks) {
  if (s->acts || s->code != MPI_SUCCESS) return;
  struct piece m = message_of(s, blocks);
  if (m.count > 0 || SIGNALS) {
    MPI_Request* request = &s->requests[s->pending++];
    note(s, sends ? MPI_Isend(m.at, m.count, m.type, rank_at(peer), s->tag, s->comm, request)
                  : MPI_Irecv(m.at, m.count, m.type, rank_at(peer), s->tag, s->comm, request));
  }
  forget(&m);
}

//: send
static void send(struct run* s, int peer, const struct range* blocks) { post(s, 1, peer, blocks); }

//: receive
static void receive(struct run* s, int peer, const struct range* target) { post(s, 0, peer, target); }

//: move
static void move(struct run* s, struct piece from, struct piece to) {
  if (to.count > 0 && (to.made || from.made || to.at != from.at)) /* else in place */
    note(s, MPI_Sendrecv(from.at, from.count, from.type, 0, TAG, to.at, to.count, to.type, 0, TAG, MPI_COMM_SELF,
                         MPI_STATUS_IGNORE));
}

//: copy
static void copy(struct run* s, const struct range* target, const struct range* source) {
  if (!s->acts || s->code != MPI_SUCCESS) return;
  struct piece to = message_of(s, target), from = message_of(s, source);
  move(s, from, to);
  forget(&to);
  forget(&from);
}

//: combine
enum { LEFT, RIGHT };

/* target = left . right, which MPI_Reduce_local puts where the right one stands; `ours`: it may. */
static void combine(struct run* s, struct piece target, struct piece left, struct piece right, int ours) {
  struct piece into = target;
  if (left.at == target.at && right.at != target.at) into = right;
  if (into.at != target.at && !ours) into.at = s->room + (SLOTS + ARRIVING) * s->most * s->sides[s->sizes].extent;
  if (target.count == 0 || s->code != MPI_SUCCESS) return;
  move(s, right, into);
  note(s, MPI_Reduce_local(left.at, into.at, target.count, target.type, s->op));
  move(s, into, target);
}

//: receive_reduce
/* LEFT: target = message . operand, RIGHT: operand . message. */
static void receive_reduce(struct run* s, int peer, int side, const struct range* target, const struct range* operand) {
  const MPI_Aint extent = s->sides[s->sizes].extent;
  char* message = s->room + (SLOTS * s->most + s->arriving) * extent;
  struct piece to[LONGEST], other[LONGEST], arrived = {message, 0, s->sides[s->sizes].type, 0};
  int count = 0, blocks = pieces_of(s, target, to);
  pieces_of(s, operand, other);
  for (int i = 0; i < blocks; ++i) {
    arrived.count = to[i].count;
    if (s->acts) combine(s, to[i], side == LEFT ? arrived : other[i], side == LEFT ? other[i] : arrived, side == RIGHT);
    arrived.at += to[i].count * extent;
    count += to[i].count;
  }
  s->arriving += count;
  if (!s->acts && s->code == MPI_SUCCESS && count > 0)
    note(s, MPI_Irecv(message, count, arrived.type, rank_at(peer), s->tag, s->comm, &s->requests[s->pending++]));
}

//: reduce
/* LEFT: target = source . operand, RIGHT: operand . source. */
static void reduce(struct run* s, int side, const struct range* target, const struct range* source,
                   const struct range* operand) {
  struct piece to[LONGEST], one[LONGEST], other[LONGEST];
  const int blocks = pieces_of(s, target, to);
  pieces_of(s, source, one);
  pieces_of(s, operand, other);
  for (int i = 0; s->acts && i < blocks; ++i)
    combine(s, to[i], side == LEFT ? one[i] : other[i], side == LEFT ? other[i] : one[i], 0);
}

//: prepare
static int prepare(struct run* s, int root, MPI_Comm comm) {
  int ranks, rank;
  CHECKED(MPI_Comm_size(comm, &ranks));
  CHECKED(MPI_Comm_rank(comm, &rank));
  if (ranks != RANKS) return MPI_ERR_COMM;
  if (root < 0 || root >= RANKS || PROGRAM_OF(root, rank) < 0) return MPI_ERR_ROOT;
  *s = (struct run){.sizes = OUTPUT, .me = place_of(rank), .program = PROGRAM_OF(root, rank), .comm = comm};
  s->op = MPI_OP_NULL;
  s->tag = TAG;
  return MPI_SUCCESS;
}

//: room
/* Elements of the longest part. */
static MPI_Aint longest_part(const struct side* side) {
  MPI_Aint all = side->count;
  for (int i = 0; side->counts != NULL && i < BLOCKS / PIECES; ++i)
    all = side->counts[i] > all ? side->counts[i] : all;
  return all;
}

/* Bytes of so many elements, aligned, and where the first of them begins. */
static size_t bytes_of(MPI_Aint count, MPI_Datatype type, MPI_Aint* first) {
  MPI_Aint lower, extent, bytes;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, first, &bytes);
  return count == 0 ? 16 : (size_t)(bytes + (count - 1) * extent) / 16 * 16 + 16;
}

//: nothing
/* There is nothing to do. */
static int perform(struct run* s) { return programs[s->program](s) ? MPI_ERR_OTHER : MPI_SUCCESS; }

//: at_once
static int perform(struct run* s) {
  MPI_Request requests[MOST];
  MPI_Aint first;
  s->elements = longest_part(&s->sides[s->sizes]);
  s->most = (s->elements + PIECES - 1) / PIECES;
  char* room = malloc(bytes_of((SLOTS + ARRIVING + 1) * s->most, s->sides[s->sizes].type, &first));
  if (room == NULL) return MPI_ERR_NO_MEM;
  s->elements = INT_MAX;
  s->room = room - first;
  s->requests = requests;
  for (int open = 1; open && s->code == MPI_SUCCESS; ++s->round)
    for (s->acts = 0; s->acts < 2; ++s->acts) {
      s->arriving = 0;
      open = programs[s->program](s);
      if (s->acts == 0) note(s, MPI_Waitall(s->pending, requests, MPI_STATUSES_IGNORE));
      s->pending = 0;
    }
  free(room);
  return s->code;
}

//: in_segments
/* Ends the round if its messages are through, and begins the next ones; 0: the segment is done. */
static int go_on(struct run* s) {
  int open = 1;
  while (open && s->pending == 0 && s->code == MPI_SUCCESS) {
    if (s->acts) {
      programs[s->program](s);
      ++s->round;
    }
    s->acts = 0;
    s->arriving = 0;
    open = programs[s->program](s);
    s->acts = 1;
    s->arriving = 0;
  }
  return open;
}

/* Goes on, with the next segment if one is done. Run i takes segments i, i + DEPTH and so on. */
static int advance(struct run* s, MPI_Aint all) {
  while (s->begin < all && !go_on(s)) {
    s->begin += DEPTH * s->elements;
    s->round = s->acts = 0;
  }
  return s->code;
}

static int run_all(struct run* runs, MPI_Request* requests, MPI_Aint all) {
  int which;
  for (int i = 0; i < DEPTH * MOST; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < DEPTH; ++i) CHECKED(advance(&runs[i], all));
  for (;;) {
    CHECKED(MPI_Waitany(DEPTH * MOST, requests, &which, MPI_STATUS_IGNORE));
    if (which == MPI_UNDEFINED) return MPI_SUCCESS;
    --runs[which / MOST].pending;
    CHECKED(advance(&runs[which / MOST], all));
  }
}

static int perform(struct run* s) {
  const struct side* side = &s->sides[s->sizes];
  const MPI_Aint all = longest_part(side);
  struct run runs[DEPTH];
  MPI_Request requests[DEPTH * MOST];
  MPI_Aint first;
  int size;
  CHECKED(MPI_Type_size(side->type, &size));
  s->elements = size < SEGMENT && size > 0 ? SEGMENT / size : 1;
  s->most = (least(all, s->elements) + PIECES - 1) / PIECES;
  const size_t bytes = bytes_of((SLOTS + ARRIVING + 1) * s->most, side->type, &first);
  char* room = malloc(DEPTH * bytes);
  if (room == NULL) return MPI_ERR_NO_MEM;
  for (int i = 0; i < DEPTH; ++i) {
    runs[i] = *s;
    runs[i].tag = TAG + i;
    runs[i].begin = i * s->elements;
    runs[i].room = room + (size_t)i * bytes - first;
    runs[i].requests = requests + i * MOST;
  }
  const int code = run_all(runs, requests, all);
  free(room);
  return code;
}

//: own
static struct side part_of(const void* base, int count, MPI_Datatype type) {
  struct side side = side_of(base, count, NULL, NULL, type);
  side.own = 1;
  return side;
}

//: saved
/* Another side with the same elements, to read from; the caller frees `room`. */
static int save(const struct side* side, struct side* saved, char** room) {
  MPI_Aint all = (MPI_Aint)RANKS * side->count, first;
  for (int i = 0; i < RANKS && side->counts != NULL; ++i)
    if (side->displs[i] + side->counts[i] > all) all = side->displs[i] + side->counts[i];
  *room = malloc(bytes_of(all, side->type, &first));
  if (*room == NULL) return MPI_ERR_NO_MEM;
  *saved = *side;
  saved->base = *room - first;
  for (int i = 0; i < RANKS; ++i) {
    const int count = side->counts == NULL ? side->count : side->counts[i];
    const MPI_Aint at = (side->counts == NULL ? (MPI_Aint)i * count : side->displs[i]) * side->extent;
    CHECKED(MPI_Sendrecv(side->base + at, count, side->type, 0, TAG, saved->base + at, count, side->type, 0, TAG,
                         MPI_COMM_SELF, MPI_STATUS_IGNORE));
  }
  return MPI_SUCCESS;
}
