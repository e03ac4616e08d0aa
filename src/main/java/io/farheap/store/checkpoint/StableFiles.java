package io.farheap.store.checkpoint;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;

/** Files by name, each of which is written as a whole: after a crash, a file is either the old or the new one. */
public interface StableFiles {

    /**
     * Creates a file. An existing file of that name stays as it is until the new one is {@linkplain Output#commit
     * committed}.
     */
    Output create(String name) throws IOException;

    /** @throws java.nio.file.NoSuchFileException if there is no such file */
    Input open(String name) throws IOException;

    /** The names of all files, in any order. */
    List<String> names() throws IOException;

    /** Renames a file, and replaces one that has the new name; the change is durable when this returns. */
    void rename(String from, String to) throws IOException;

    void delete(String name) throws IOException;

    /** Writes a file. It is durable when this returns; until then an existing file of that name stays as it is. */
    default void write(String name, ByteBuffer bytes) throws IOException {
        try (Output output = create(name)) {
            output.write(bytes);
            output.commit();
        }
    }

    /** Reads a whole, small file. */
    default ByteBuffer read(String name) throws IOException {
        try (Input input = open(name)) {
            ByteBuffer all = ByteBuffer.allocate((int) Math.min(input.bytes(), Integer.MAX_VALUE - 8));
            input.read(0, all);
            return all.flip();
        }
    }

    /** Whether an exception says that a file is not as it was written. Any other reason may pass. */
    static boolean isDamage(IOException e) {
        return e instanceof NoSuchFileException || e instanceof EOFException;
    }

    /** A file that is being written, from its beginning on. */
    interface Output extends Closeable {

        /** Writes all remaining bytes of the buffer. */
        void write(ByteBuffer bytes) throws IOException;

        /** Makes the file durable under its name, and ends writing. */
        void commit() throws IOException;
    }

    interface Input extends Closeable {

        long bytes() throws IOException;

        /**
         * Fills what remains of the buffer, which is on the heap.
         *
         * @throws java.io.EOFException if the file ends before that
         */
        void read(long position, ByteBuffer into) throws IOException;
    }
}
