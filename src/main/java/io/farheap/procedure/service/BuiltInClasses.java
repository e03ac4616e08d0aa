package io.farheap.procedure.service;

import io.farheap.procedure.builtin.BuiltIns;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The class files of the procedures that come with Farheap, in this server's release. Any thread. */
final class BuiltInClasses {

    private static final Set<ByteBuffer> FILES = read();

    private BuiltInClasses() {}

    private static Set<ByteBuffer> read() {
        Set<ByteBuffer> files = new HashSet<>();
        for (Class<?> type : BuiltIns.ALL) {
            try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
                if (in != null) {
                    files.add(ByteBuffer.wrap(in.readAllBytes()));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return files;
    }

    static List<byte[]> files() {
        return FILES.stream().map(ByteBuffer::array).toList();
    }

    /** Whether a client's class file equals one of them byte by byte; a file of another release does not. */
    static boolean contain(byte[] file) {
        return FILES.contains(ByteBuffer.wrap(file));
    }
}
