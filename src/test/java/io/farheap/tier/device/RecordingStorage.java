package io.farheap.tier.device;

import io.farheap.posix.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * A {@link Storage} in memory that remembers what was not synced, and says what a power cut may leave: of the writes to
 * a file since its last sync any subset, in any order, each torn at 512 bytes; of the directory's changes since its
 * last sync any subset, each on its own. A file's length comes with the writes that make it longer. Renames are whole:
 * the file is under the old name, the new one, or, where only one half is there, under both.
 *
 * <p>Any thread. A cut at any moment: {@link #cut} may be called while others write.
 */
public final class RecordingStorage implements Storage {

    private static final int SECTOR_BYTES = 512;
    private static final int BLOCK_BYTES = 4096;

    /** What a name stands for: contents that outlive renames. */
    private static final class Content {

        /** What is seen, and what is durable. */
        private byte[] now = {};

        private byte[] durable = {};
        private final List<Write> unsynced = new ArrayList<>();
    }

    private record Write(int position, byte[] bytes) {}

    /** Of one name: what it stands for from then on, or null. */
    private record Change(String name, Content content) {}

    private final Map<String, Content> names = new TreeMap<>();
    private final Map<String, Content> durableNames = new TreeMap<>();
    private final List<Change> changes = new ArrayList<>();
    private Predicate<String> lies = name -> false;
    private int operations;
    private int failAt = Integer.MAX_VALUE;

    public RecordingStorage() {}

    /**
     * From so many more operations on nothing has an effect: requests fail, others throw, as in a process that ends.
     */
    public synchronized void stopAfter(int more) {
        failAt = operations + more;
    }

    /** Syncs of such files say that they did it, and do nothing: as disks do that lie. */
    public synchronized void dropSyncs(Predicate<String> files) {
        lies = files;
    }

    /** How many operations there were. */
    public synchronized int operations() {
        return operations;
    }

    public synchronized boolean isCut() {
        return operations > failAt;
    }

    private boolean stopped() {
        return ++operations > failAt;
    }

    private void checkGoing(String what) {
        if (stopped()) {
            throw new StorageException("cannot " + what + ": the power is cut");
        }
    }

    /** What may be there after a power cut now: durable, as a new process finds it. */
    public synchronized RecordingStorage cut(Random random) {
        Map<Content, Content> after = new HashMap<>();
        Map<String, Content> left = new TreeMap<>(durableNames);
        List<Change> some = new ArrayList<>(changes);
        some.removeIf(change -> random.nextBoolean());
        // Of changes to one name the later one wins, if it is there.
        for (Change change : some) {
            if (change.content == null) {
                left.remove(change.name);
            } else {
                left.put(change.name, change.content);
            }
        }
        RecordingStorage storage = new RecordingStorage();
        left.forEach((name, content) ->
                storage.names.put(name, after.computeIfAbsent(content, lost -> survivor(lost, random))));
        storage.durableNames.putAll(storage.names);
        return storage;
    }

    private static Content survivor(Content content, Random random) {
        Content left = new Content();
        left.now = content.durable.clone();
        List<Write> writes = new ArrayList<>(content.unsynced);
        java.util.Collections.shuffle(writes, random);
        int share = random.nextInt(4);
        for (Write write : writes) {
            for (int at = 0; at < write.bytes.length; at += SECTOR_BYTES) {
                if (random.nextInt(3) < share) {
                    int length = Math.min(SECTOR_BYTES, write.bytes.length - at);
                    left.now = put(left.now, write.position + at, Arrays.copyOfRange(write.bytes, at, at + length));
                }
            }
        }
        left.durable = left.now.clone();
        return left;
    }

    private static byte[] put(byte[] into, int position, byte[] bytes) {
        byte[] whole = into.length >= position + bytes.length ? into : Arrays.copyOf(into, position + bytes.length);
        System.arraycopy(bytes, 0, whole, position, bytes.length);
        return whole;
    }

    @Override
    public String name() {
        return "recorded files";
    }

    @Override
    public int alignment() {
        return BLOCK_BYTES;
    }

    @Override
    public String remark() {
        return "recorded";
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(names.keySet());
    }

    @Override
    public synchronized StoredFile create(String name) {
        checkGoing("create " + name);
        if (names.containsKey(name)) {
            throw new StorageException("cannot create " + name + ": it is there");
        }
        Content content = new Content();
        names.put(name, content);
        changes.add(new Change(name, content));
        return new Opened(name, content);
    }

    @Override
    public synchronized StoredFile open(String name) {
        return new Opened(name, content(name));
    }

    private Content content(String name) {
        Content content = names.get(name);
        if (content == null) {
            throw new StorageException("cannot open " + name + ": it is not there");
        }
        return content;
    }

    @Override
    public synchronized void rename(String from, String to) {
        checkGoing("rename " + from);
        Content content = content(from);
        names.remove(from);
        names.put(to, content);
        changes.add(new Change(to, content));
        changes.add(new Change(from, null));
    }

    @Override
    public synchronized void delete(String name) {
        checkGoing("delete " + name);
        content(name);
        names.remove(name);
        changes.add(new Change(name, null));
    }

    @Override
    public synchronized void sync() {
        checkGoing("sync the directory");
        durableNames.clear();
        durableNames.putAll(names);
        changes.clear();
    }

    @Override
    public void close() {}

    private final class Opened implements StoredFile {

        private final String name;
        private final Content content;

        Opened(String name, Content content) {
            this.name = name;
            this.content = content;
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public long size() {
            synchronized (RecordingStorage.this) {
                return content.now.length;
            }
        }

        @Override
        public long read(long position, MemorySegment memory, long offset, long length) {
            synchronized (RecordingStorage.this) {
                int count = (int) Math.clamp(content.now.length - position, 0, length);
                if (count == 0) {
                    return 0;
                }
                MemorySegment.copy(content.now, (int) position, memory, ValueLayout.JAVA_BYTE, offset, count);
                return count;
            }
        }

        @Override
        public long write(long position, MemorySegment memory, long offset, long length) {
            synchronized (RecordingStorage.this) {
                if (stopped()) {
                    return -Errno.EIO;
                }
                byte[] bytes = new byte[(int) length];
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, bytes, 0, bytes.length);
                Write write = new Write((int) position, bytes);
                content.unsynced.add(write);
                content.now = put(content.now, write.position, bytes);
                return length;
            }
        }

        @Override
        public int sync() {
            synchronized (RecordingStorage.this) {
                if (stopped()) {
                    return Errno.EIO;
                }
                if (!lies.test(name)) {
                    content.durable = content.now.clone();
                    content.unsynced.clear();
                }
                return 0;
            }
        }

        @Override
        public void close() {}
    }
}
