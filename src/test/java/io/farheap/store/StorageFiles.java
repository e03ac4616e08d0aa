package io.farheap.store;

import io.farheap.tier.Storage;
import io.farheap.tier.StorageException;
import io.farheap.tier.StoredFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;

/** Small files in a storage, with the steps of {@link DirectoryFiles}: written aside, synced, renamed, synced. */
final class StorageFiles implements StableFiles {

    private static final String ASIDE = ".new";

    private final Storage storage;

    StorageFiles(Storage storage) {
        this.storage = storage;
    }

    @Override
    public void write(String name, ByteBuffer bytes) throws IOException {
        int length = bytes.remaining();
        try (Arena arena = Arena.ofConfined()) {
            if (storage.list().contains(name + ASIDE)) {
                storage.delete(name + ASIDE);
            }
            try (StoredFile file = storage.create(name + ASIDE)) {
                MemorySegment memory = arena.allocate(length, 4096);
                memory.copyFrom(MemorySegment.ofBuffer(bytes));
                if (file.write(0, memory, 0, length) != length || !file.sync()) {
                    throw new IOException("cannot write " + name);
                }
            }
            storage.rename(name + ASIDE, name);
            storage.sync();
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }

    @Override
    public ByteBuffer read(String name) throws IOException {
        try (StoredFile file = storage.open(name);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(1, file.size()), 4096);
            file.read(0, memory, 0, file.size());
            return ByteBuffer.wrap(memory.asSlice(0, file.size()).toArray(ValueLayout.JAVA_BYTE));
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }

    @Override
    public List<String> names() throws IOException {
        try {
            return storage.list();
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void delete(String name) throws IOException {
        try {
            storage.delete(name);
            storage.sync();
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }
}
