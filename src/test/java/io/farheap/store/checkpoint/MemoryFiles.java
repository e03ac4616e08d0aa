package io.farheap.store.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Files in memory, which a test can damage. */
public final class MemoryFiles implements StableFiles {

    public final Map<String, byte[]> files = new ConcurrentHashMap<>();

    @Override
    public Output create(String name) {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        return new Output() {
            @Override
            public void write(ByteBuffer bytes) {
                byte[] copy = new byte[bytes.remaining()];
                bytes.get(copy);
                written.writeBytes(copy);
            }

            @Override
            public void commit() {
                files.put(name, written.toByteArray());
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public Input open(String name) throws NoSuchFileException {
        byte[] bytes = files.get(name);
        if (bytes == null) {
            throw new NoSuchFileException(name);
        }
        return new Input() {
            @Override
            public long bytes() {
                return bytes.length;
            }

            @Override
            public void read(long position, ByteBuffer into) throws EOFException {
                if (position + into.remaining() > bytes.length) {
                    throw new EOFException(name);
                }
                into.put(bytes, (int) position, into.remaining());
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public List<String> names() {
        return List.copyOf(files.keySet());
    }

    @Override
    public void rename(String from, String to) {
        files.put(to, files.remove(from));
    }

    @Override
    public void delete(String name) {
        files.remove(name);
    }
}
