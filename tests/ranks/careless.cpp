/// \file
/// A program that frees no MPI object and sends a message from a second thread. The counts must
/// show both errors.

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <thread>

int main() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  const int ranks[] = {1}, periodic[] = {1};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_SELF, 1, ranks, periodic, 0, &ring);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  double sent[2] = {1, 2};
  static double received[2], never[2];
  MPI_Request requests[3];
  MPI_Irecv(received, 1, pair, 0, 0, ring, &requests[0]);
  std::thread([&] { MPI_Isend(sent, 1, pair, 0, 0, ring, &requests[1]); }).join();
  MPI_Irecv(never, 1, pair, 0, 1, ring, &requests[2]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(ring, &group);
  double* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(16, 8, MPI_INFO_NULL, ring, &memory, &window);
  MPI_Finalize();
}
