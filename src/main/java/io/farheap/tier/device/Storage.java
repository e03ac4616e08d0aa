package io.farheap.tier.device;

import java.util.List;

/**
 * The files of one directory, as {@link io.farheap.tier.FileDevice} needs them. {@link io.farheap.tier.DiskStorage} has
 * real files; tests use others, which record the states in which a power cut could leave them. Names are plain, without
 * directories. Any thread may call. A call that fails throws {@link StorageException}; reads, writes and syncs of files
 * return an error number instead.
 */
public interface Storage extends AutoCloseable {

    /** The directory, for messages. */
    String name();

    /**
     * The alignment of positions, lengths and memory addresses of all reads and writes: a power of two, at most 4,096.
     */
    int alignment();

    /** The kind of reads and writes, if it is not the usual one: {@code buffered}; otherwise empty. */
    String remark();

    /** The names of all files. */
    List<String> list();

    /** Creates a file of length 0; fails if there is one of that name. */
    StoredFile create(String name);

    /** Opens an existing file. */
    StoredFile open(String name);

    /** Renames a file, and replaces one that has the new name. */
    void rename(String from, String to);

    /** Deletes a file. Requests to it continue to work while it is open. */
    void delete(String name);

    /** Makes the directory durable, after files were created, renamed or deleted. */
    void sync();

    @Override
    void close();
}
