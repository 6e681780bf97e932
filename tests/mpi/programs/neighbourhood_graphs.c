// SPDX-License-Identifier: BSD-3-Clause
//
// Not a program: neighbourhood.c includes it. Communicators with neighbours, made in every way that MPI has, and what
// each rank knows alone of the neighbours of all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16, most_edges = 40, most_dims = 3 };

struct list {
  int n, rank[most_edges];
};

struct topology {
  const char* name;
  MPI_Comm comm;  // none: too few ranks for it, or this one has no place in it
  int rank, ranks, is_cartesian, is_ordered_by_mpi;
  int is_short;  // a periodic dimension has one or two ranks: up and down are one neighbour
  struct list in[most_ranks], out[most_ranks];
  int component[most_ranks];  // ranks that are connected have the same
};

static int world_rank, world_ranks;
static MPI_Comm bases[2];     // all ranks, and all in reverse order
static unsigned common, own;  // states from which numbers are drawn: the same on all ranks, and a rank's own

static unsigned draw(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

static void wrong_topology(const struct topology* t, const char* what) {
  fprintf(stderr, "rank %d: wrong: %s of communicator %s, rank %d of %d\n", world_rank, what, t->name, t->rank,
          t->ranks);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void add(struct list* list, int rank) { list->rank[list->n++] = rank; }

static void add_edge(struct topology* t, int from, int to) {
  if (t->out[from].n == most_edges || t->in[to].n == most_edges) return;
  add(&t->out[from], to);
  add(&t->in[to], from);
}

static void shuffle(struct list* list) {
  for (int i = list->n - 1; i > 0; --i) {
    const int other = (int)draw(&common, i + 1), kept = list->rank[i];
    list->rank[i] = list->rank[other];
    list->rank[other] = kept;
  }
}

// The slot of the sender whose block arrives in this slot. What goes down a dimension of a grid arrives from above,
// also where both neighbours are one rank; in a graph the k-th edge of the one list is the k-th edge of the other.
static int origin(const struct topology* t, int rank, int slot) {
  const struct list *in = &t->in[rank], *out = &t->out[in->rank[slot]];
  int before = 0;
  if (t->is_cartesian) return slot ^ 1;
  for (int i = 0; i < slot; ++i) before += in->rank[i] == in->rank[slot];
  for (int i = 0; i < out->n; ++i)
    if (out->rank[i] == rank && before-- == 0) return i;
  wrong_topology(t, "edge without a sender");
  return 0;
}

static void find_components(struct topology* t) {
  for (int r = 0; r < t->ranks; ++r) t->component[r] = r;
  for (int again = 1; again;) {
    again = 0;
    for (int r = 0; r < t->ranks; ++r)
      for (int i = 0; i < t->in[r].n; ++i) {
        const int s = t->in[r].rank[i];
        if (s == MPI_PROC_NULL || t->component[r] == t->component[s]) continue;
        const int least = t->component[r] < t->component[s] ? t->component[r] : t->component[s];
        t->component[r] = t->component[s] = least;
        again = 1;
      }
  }
}

// Grids: dims of 0 are chosen by MPI_Dims_create. Ranks count the last dimension first.
struct grid {
  int n, dims[most_dims], periodic[most_dims];
};

static void expect_grid(struct topology* t, const struct grid* g) {
  t->is_cartesian = 1;
  for (int r = 0; r < t->ranks; ++r)
    for (int d = 0; d < g->n; ++d)
      for (int up = 0; up < 2; ++up) {
        int stride = 1;
        for (int i = d + 1; i < g->n; ++i) stride *= g->dims[i];
        const int at = r / stride % g->dims[d], to = at + (up ? 1 : -1), wrapped = (to + g->dims[d]) % g->dims[d];
        const int other = to == wrapped || g->periodic[d] ? r + (wrapped - at) * stride : MPI_PROC_NULL;
        add(&t->in[r], other);
        add(&t->out[r], other);
      }
  for (int d = 0; d < g->n; ++d) t->is_short |= g->periodic[d] && g->dims[d] <= 2;
}

static int fill_dims(struct topology* t, struct grid* g) {
  int fixed = 1;
  for (int d = 0; d < g->n; ++d) fixed *= g->dims[d] ? g->dims[d] : 1;
  if (fixed > world_ranks) return 0;
  t->ranks = world_ranks / fixed * fixed;
  for (int d = 0; d < g->n && t->ranks; ++d)
    if (!g->dims[d]) return !MPI_Dims_create(t->ranks, g->n, g->dims);
  t->ranks = fixed;
  return 1;
}

static void make_grid(struct topology* t, unsigned which) {
  static const struct grid grids[] = {
      {1, {0}, {1}},
      {1, {0}, {0}},
      {2, {0, 0}, {1, 1}},
      {2, {0, 0}, {0, 0}},
      {2, {0, 0}, {1, 0}},
      {3, {0, 0, 0}, {1, 1, 1}},
      {3, {0, 0, 0}, {0, 1, 0}},
      {2, {1, 0}, {1, 1}},
      {2, {0, 1}, {0, 1}},
      {3, {0, 1, 1}, {1, 0, 1}},
      {2, {2, 0}, {1, 1}},
      {3, {2, 2, 0}, {1, 0, 1}},
      {2, {1, 1}, {1, 0}},
      {1, {2}, {1}},
      {0},
  };
  struct grid g = grids[which];
  if (!fill_dims(t, &g)) return;
  MPI_Cart_create(bases[which % 2], g.n, g.dims, g.periodic, which % 3 == 0, &t->comm);
  expect_grid(t, &g);
}

// The rows or the columns of a grid: each a grid of its own.
static void make_part_of_grid(struct topology* t, unsigned columns) {
  struct grid whole = {2, {0, 0}, {1, 0}}, part = {1};
  const int kept[2] = {columns, !columns};
  MPI_Comm comm;
  fill_dims(t, &whole);
  MPI_Cart_create(bases[columns], 2, whole.dims, whole.periodic, 0, &comm);
  MPI_Cart_sub(comm, kept, &t->comm);
  MPI_Comm_free(&comm);
  part.dims[0] = t->ranks = whole.dims[!columns];
  part.periodic[0] = whole.periodic[!columns];
  expect_grid(t, &part);
}

// Edges of MPI_Graph_create go both ways: a rank has as many to another as that has to it.
static void add_both(struct topology* t, int a, int b) {
  if (t->out[a].n == most_edges || t->out[b].n == most_edges) return;
  add(&t->out[a], b);
  if (a != b) add(&t->out[b], a);
}

static void make_graph(struct topology* t, unsigned which) {
  const int some = world_ranks - world_ranks / 3, n = t->ranks = which == 1 ? some : world_ranks;
  int index[most_ranks], edges[most_ranks * most_edges], filled = 0;
  for (int r = 0; r < n && which != 1; ++r) add_both(t, r, (r + 1) % n);
  for (int i = 0; i < 2 * n && which; ++i) add_both(t, (int)draw(&common, n), (int)draw(&common, n));
  for (int i = 0; i < 3 && which == 2; ++i) add_both(t, 0, n - 1), add_both(t, n / 2, n / 2);
  for (int r = 0; r < n; ++r) {
    shuffle(&t->out[r]);
    t->in[r] = t->out[r];
    for (int i = 0; i < t->out[r].n; ++i) edges[filled++] = t->out[r].rank[i];
    index[r] = filled;
  }
  MPI_Graph_create(bases[which % 2], n, index, edges, 0, &t->comm);
}

// Graphs whose edges have a direction.
enum shape { sparse, dense, selves, one_way, empty, two_rings, star, bundle, moore, full, shapes };

static void add_moore(struct topology* t) {
  int dims[2] = {0, 0};
  MPI_Dims_create(t->ranks, 2, dims);
  for (int r = 0; r < t->ranks; ++r)
    for (int k = 0; k < 9; ++k) {
      const int y = (r / dims[1] + k / 3 - 1 + dims[0]) % dims[0], x = (r % dims[1] + k % 3 - 1 + dims[1]) % dims[1];
      if (k == 4) continue;
      add(&t->in[r], y * dims[1] + x);
      add(&t->out[r], y * dims[1] + x);
    }
}

static void add_edges(struct topology* t, enum shape shape) {
  const int n = t->ranks, half = (n + 1) / 2, random = shape == sparse ? 3 * n / 2 : shape == dense ? 5 * n : 0;
  for (int i = 0; i < random; ++i) add_edge(t, (int)draw(&common, n), (int)draw(&common, n));
  for (int i = 0; i < 3 * n && shape == one_way && n > 1; ++i)
    add_edge(t, (int)draw(&common, half), half + (int)draw(&common, n - half));
  for (int i = 0; i < 12 && shape == bundle; ++i) add_edge(t, 0, n - 1), add_edge(t, n - 1, i % n);
  for (int r = 0; r < n; ++r) {
    for (int i = (int)draw(&common, 4); i > 0 && shape == selves; --i) add_edge(t, r, r);
    if (shape == selves) add_edge(t, r, (int)draw(&common, n));
    if (shape == two_rings) add_edge(t, r, r + 2 < n ? r + 2 : r % 2), add_edge(t, r + 2 < n ? r + 2 : r % 2, r);
    if (shape == star) add_edge(t, r, 0), add_edge(t, 0, r);
    for (int to = 0; to < n && shape == full; ++to) add_edge(t, r, to);
  }
  if (shape == moore) add_moore(t);
  for (int r = 0; r < n && shape != moore; ++r) shuffle(&t->in[r]), shuffle(&t->out[r]);
}

static int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

// Of an edge, the same at both ends.
static void weigh(int* weights, const struct list* others, int rank, int outwards) {
  for (int i = 0; i < others->n; ++i) weights[i] = outwards ? rank + 3 * others->rank[i] : others->rank[i] + 3 * rank;
}

static const int* none_or(const int* weights, int weighted, int n) {
  return !weighted ? MPI_UNWEIGHTED : n ? weights : MPI_WEIGHTS_EMPTY;
}

static void make_adjacent(struct topology* t, unsigned which) {
  const int weighted = which >= shapes;
  const MPI_Comm base = bases[which % 2];
  int weights[2][most_edges];
  t->ranks = world_ranks;
  add_edges(t, which % shapes);
  const int rank = rank_in(base);
  const struct list *in = &t->in[rank], *out = &t->out[rank];
  weigh(weights[0], in, rank, 0);
  weigh(weights[1], out, rank, 1);
  MPI_Dist_graph_create_adjacent(base, in->n, in->rank, none_or(weights[0], weighted, in->n), out->n, out->rank,
                                 none_or(weights[1], weighted, out->n), MPI_INFO_NULL, 0, &t->comm);
}

static int compare(const void* left, const void* right) { return *(const int*)left - *(const int*)right; }

static int has_same(const struct list* left, const struct list* right) {
  struct list a = *left, b = *right;
  qsort(a.rank, a.n, sizeof a.rank[0], compare);
  qsort(b.rank, b.n, sizeof b.rank[0], compare);
  return a.n == b.n && memcmp(a.rank, b.rank, a.n * sizeof a.rank[0]) == 0;
}

static void read_neighbours(const struct topology* t, struct list* in, struct list* out) {
  int weights[2][most_edges], weighted;
  MPI_Dist_graph_neighbors_count(t->comm, &in->n, &out->n, &weighted);
  if (in->n > most_edges || out->n > most_edges) wrong_topology(t, "number of neighbours");
  MPI_Dist_graph_neighbors(t->comm, in->n, in->rank, weighted ? weights[0] : MPI_UNWEIGHTED, out->n, out->rank,
                           weighted ? weights[1] : MPI_UNWEIGHTED);
}

// The order of neighbours is MPI's own: every rank tells all others what it is.
static void take_order(struct topology* t) {
  struct list mine[2] = {{0}, {0}}, all[most_ranks][2];
  read_neighbours(t, &mine[0], &mine[1]);
  if (!has_same(&mine[0], &t->in[t->rank]) || !has_same(&mine[1], &t->out[t->rank])) wrong_topology(t, "neighbours");
  MPI_Allgather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, t->comm);
  for (int r = 0; r < t->ranks; ++r) t->in[r] = all[r][0], t->out[r] = all[r][1];
}

// Edges are given by any rank, or all by rank 0: some with many ends, some of the same beginning more than once.
static void make_distributed(struct topology* t, unsigned which) {
  const MPI_Comm base = bases[which % 2];
  const int weighted = which % 3 == 1, rank = rank_in(base);
  int from[most_ranks * most_edges], degrees[most_ranks * most_edges], ends[most_ranks * most_edges];
  int weights[most_ranks * most_edges], n = 0, filled = 0, number = 0;
  t->ranks = world_ranks;
  add_edges(t, (int)which % shapes);
  for (int r = 0; r < t->ranks; ++r)
    for (int i = 0; i < t->out[r].n; ++i, ++number) {
      if (rank != (which >= shapes ? 0 : (number / 2 * 5 + 1) % t->ranks)) continue;
      if (n && from[n - 1] == r && number % 3)
        ++degrees[n - 1];
      else
        from[n] = r, degrees[n++] = 1;
      weights[filled] = number;
      ends[filled++] = t->out[r].rank[i];
    }
  MPI_Dist_graph_create(base, n, from, degrees, ends, none_or(weights, weighted, filled), MPI_INFO_NULL, 0, &t->comm);
  t->is_ordered_by_mpi = 1;
}

static const struct {
  const char* name;
  void (*make)(struct topology*, unsigned which);
  unsigned which;
  int copied;
} topologies[] = {
    {"grid ring", make_grid, 0},
    {"grid line", make_grid, 1},
    {"grid torus", make_grid, 2},
    {"grid of 2 dimensions", make_grid, 3},
    {"grid cylinder", make_grid, 4},
    {"grid torus of 3 dimensions", make_grid, 5},
    {"grid of 3 dimensions, one periodic", make_grid, 6},
    {"grid 1 x n periodic", make_grid, 7},
    {"grid n x 1, of 1 periodic", make_grid, 8},
    {"grid n x 1 x 1, mixed", make_grid, 9},
    {"grid 2 x n periodic", make_grid, 10},
    {"grid 2 x 2 x n, mixed", make_grid, 11},
    {"grid 1 x 1, mixed", make_grid, 12},
    {"grid ring of 2", make_grid, 13},
    {"grid of no dimension", make_grid, 14},
    {"grid row", make_part_of_grid, 0},
    {"grid column", make_part_of_grid, 1},
    {"grid copy of a torus", make_grid, 2, 1},
    {"graph ring", make_graph, 0},
    {"graph random, of some ranks", make_graph, 1},
    {"graph copy of a ring with more edges", make_graph, 2, 1},
    {"adjacent sparse", make_adjacent, sparse},
    {"adjacent dense", make_adjacent, dense},
    {"adjacent selves", make_adjacent, selves},
    {"adjacent one way", make_adjacent, one_way},
    {"adjacent empty", make_adjacent, empty},
    {"adjacent two rings", make_adjacent, two_rings},
    {"adjacent star", make_adjacent, star},
    {"adjacent bundle", make_adjacent, bundle},
    {"adjacent Moore", make_adjacent, moore},
    {"adjacent full", make_adjacent, full},
    {"adjacent weighted sparse", make_adjacent, shapes + sparse},
    {"adjacent weighted one way", make_adjacent, shapes + one_way},
    {"adjacent weighted empty", make_adjacent, shapes + empty},
    {"adjacent copy of a dense one", make_adjacent, dense, 1},
    {"distributed dense", make_distributed, dense},
    {"distributed weighted one way", make_distributed, one_way},
    {"distributed empty", make_distributed, empty},
    {"distributed weighted Moore", make_distributed, moore},
    {"distributed sparse by rank 0", make_distributed, shapes + sparse},
    {"distributed copy of a weighted one by rank 0", make_distributed, shapes + moore, 1},
};

static void check_neighbours(const struct topology* t) {
  struct list in = {0}, out = {0};
  const struct list* expected = &t->in[t->rank];
  int kind, equal = 1;
  MPI_Topo_test(t->comm, &kind);
  if (kind == MPI_DIST_GRAPH) {
    read_neighbours(t, &in, &out);
    equal = out.n == t->out[t->rank].n && !memcmp(out.rank, t->out[t->rank].rank, out.n * sizeof out.rank[0]);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(t->comm, t->rank, &in.n);
    MPI_Graph_neighbors(t->comm, t->rank, in.n, in.rank);
  } else {
    MPI_Cartdim_get(t->comm, &in.n);
    for (int d = 0; d < in.n; ++d) MPI_Cart_shift(t->comm, d, 1, &in.rank[2 * d], &in.rank[2 * d + 1]);
    in.n *= 2;
  }
  if (!equal || in.n != expected->n || memcmp(in.rank, expected->rank, in.n * sizeof in.rank[0]))
    wrong_topology(t, "neighbours");
}

static void make_topology(struct topology* t, int number) {
  *t = (struct topology){.name = topologies[number].name, .comm = MPI_COMM_NULL};
  topologies[number].make(t, topologies[number].which);
  if (t->comm == MPI_COMM_NULL) return;
  if (topologies[number].copied) {
    MPI_Comm kept = t->comm;
    MPI_Comm_dup(kept, &t->comm);
    MPI_Comm_free(&kept);
  }
  int ranks;
  MPI_Comm_rank(t->comm, &t->rank);
  MPI_Comm_size(t->comm, &ranks);
  if (ranks != t->ranks) wrong_topology(t, "number of ranks");
  if (t->is_ordered_by_mpi) take_order(t);
  find_components(t);
  check_neighbours(t);
}
