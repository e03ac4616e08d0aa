package io.farheap.store.checkpoint;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;

/** Files by name, each written as a whole. */
public interface StableFiles {

    /** A file of that name is as before until it is {@linkplain Output#commit committed}. */
    Output create(String name) throws IOException;

    /** @throws java.nio.file.NoSuchFileException where it is not there */
    Input open(String name) throws IOException;

    /** In any order. */
    List<String> names() throws IOException;

    /** It is durable under the new name, where another is gone, when this returns. */
    void rename(String from, String to) throws IOException;

    void delete(String name) throws IOException;

    /** It is durable, with its name, when this returns; until then a file of that name is as before. */
    default void write(String name, ByteBuffer bytes) throws IOException {
        try (Output output = create(name)) {
            output.write(bytes);
            output.commit();
        }
    }

    /** A small one. */
    default ByteBuffer read(String name) throws IOException {
        try (Input input = open(name)) {
            ByteBuffer all = ByteBuffer.allocate((int) Math.min(input.bytes(), Integer.MAX_VALUE - 8));
            input.read(0, all);
            return all.flip();
        }
    }

    /** Whether a file is not as it was written. Whatever else keeps one from being read may pass. */
    static boolean isDamage(IOException e) {
        return e instanceof NoSuchFileException || e instanceof EOFException;
    }

    /** A file that is being written, from its beginning on. */
    interface Output extends Closeable {

        /** All that remains of it. */
        void write(ByteBuffer bytes) throws IOException;

        /** It is durable, with its name, when this returns. Nothing is written any more. */
        void commit() throws IOException;
    }

    interface Input extends Closeable {

        long bytes() throws IOException;

        /**
         * Fills what remains of the buffer, which is on the heap.
         *
         * @throws java.io.EOFException where the file has not so much
         */
        void read(long position, ByteBuffer into) throws IOException;
    }
}
