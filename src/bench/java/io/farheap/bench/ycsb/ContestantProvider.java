package io.farheap.bench.ycsb;

import io.farheap.bench.peers.PeerAbsentException;
import java.nio.file.Path;
import java.util.List;

/** Opens contestants that need a library of their own; a service. */
public interface ContestantProvider {

    List<String> names();

    /**
     * Opens a contestant, which is not loaded yet.
     *
     * @throws PeerAbsentException if a program or library that it needs is not installed
     */
    Contestant open(String name, Setup setup) throws Exception;

    /**
     * The setup of a contestant.
     *
     * @param budgetBytes of local memory: as much as a store's log has
     * @param indexBytes of local memory that the store's index has in addition
     * @param directory for this contestant alone, which is deleted after it; on a local disk
     */
    record Setup(DataSet data, long budgetBytes, long indexBytes, Path directory) {}
}
