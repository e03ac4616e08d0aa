package io.farheap.store;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;

/** Files in memory, which a test can damage. */
final class MemoryFiles implements StableFiles {

    final Map<String, byte[]> files = new ConcurrentHashMap<>();

    @Override
    public void write(String name, ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        files.put(name, copy);
    }

    @Override
    public ByteBuffer read(String name) {
        byte[] bytes = files.get(name);
        if (bytes == null) {
            throw new NoSuchElementException(name);
        }
        return ByteBuffer.wrap(bytes);
    }

    @Override
    public List<String> names() {
        return List.copyOf(files.keySet());
    }

    @Override
    public void delete(String name) {
        files.remove(name);
    }
}
