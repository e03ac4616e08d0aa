package io.farheap.tier.device;

import java.util.List;

/**
 * The files of one directory, as {@link io.farheap.tier.FileDevice} needs them. {@link io.farheap.tier.DiskStorage} has
 * real ones; a test puts others in their place, that remember in which states a power cut could leave them. Names are
 * plain, without directories. Any thread; what fails throws {@link StorageException} in one sentence, but for requests
 * to files, which say so.
 */
public interface Storage extends AutoCloseable {

    /** For messages: the directory. */
    String name();

    /**
     * Positions, lengths and places in memory of all reads and writes are multiples of it: a power of two, at most
     * 4,096.
     */
    int alignment();

    /** What kinds of reads and writes these are, where they are not the usual: {@code buffered}; else empty. */
    String remark();

    List<String> list();

    /** A new file, of length 0; where there is one of that name it fails. */
    StoredFile create(String name);

    StoredFile open(String name);

    /** What was there under the new name is gone. */
    void rename(String from, String to);

    /** Those who have it open may go on. */
    void delete(String name);

    /** Which files there are, and their names, is durable: after some were created, renamed or deleted. */
    void sync();

    @Override
    void close();
}
