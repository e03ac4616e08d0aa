package io.farheap.store.checkpoint;

import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.device.StoredFile;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Files in a storage, created in the steps of {@link DirectoryFiles}: a file is written under another name, synced and
 * renamed, and then the directory is synced.
 */
public final class StorageFiles implements StableFiles {

    private static final String ASIDE = ".new";

    private final Storage storage;

    public StorageFiles(Storage storage) {
        this.storage = storage;
    }

    @Override
    public Output create(String name) throws IOException {
        try {
            if (storage.list().contains(name + ASIDE)) {
                storage.delete(name + ASIDE);
            }
            return new Writing(name, storage.create(name + ASIDE));
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }

    private final class Writing implements Output {

        private final String name;
        private final StoredFile file;
        private long position;

        Writing(String name, StoredFile file) {
            this.name = name;
            this.file = file;
        }

        @Override
        public void write(ByteBuffer bytes) throws IOException {
            int length = bytes.remaining();
            if (file.write(position, MemorySegment.ofBuffer(bytes), 0, length) != length) {
                throw new IOException("cannot write " + name);
            }
            position += length;
        }

        @Override
        public void commit() throws IOException {
            if (file.sync() != 0) {
                throw new IOException("cannot write " + name);
            }
            try {
                storage.rename(name + ASIDE, name);
                storage.sync();
            } catch (StorageException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void close() {
            file.close();
        }
    }

    @Override
    public Input open(String name) throws IOException {
        try {
            return new Reading(storage.open(name));
        } catch (StorageException e) {
            throw new IOException(e);
        }
    }

    private record Reading(StoredFile file) implements Input {

        @Override
        public long bytes() {
            return file.size();
        }

        @Override
        public void read(long position, ByteBuffer into) throws IOException {
            int length = into.remaining();
            if (file.read(position, MemorySegment.ofBuffer(into), 0, length) != length) {
                throw new EOFException("it ends before " + (position + length));
            }
            into.position(into.limit());
        }

        @Override
        public void close() {
            file.close();
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
    public void rename(String from, String to) throws IOException {
        try {
            storage.rename(from, to);
            storage.sync();
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
