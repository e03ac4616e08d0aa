package io.farheap.tier.file;

import io.farheap.lifetime.Closeables;
import io.farheap.posix.Errno;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.device.StoredFile;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The format of a {@link io.farheap.tier.FileDevice}'s directory: a file {@code device}, a text with the size of the
 * log's segments, and a file {@code segment-NUMBER} for each segment, with its number in 16 hexadecimal digits. There
 * is never a gap between segments, even after a power cut: files are created and deleted in order, and the directory is
 * synced each time.
 */
final class LogDirectory {

    private static final String DEVICE = "device";
    private static final String NEW_DEVICE = "device.new";
    private static final String PREFIX = "segment-";
    private static final int DIGITS = 16;
    private static final int BLOCK_BYTES = (int) OwnedMemory.PAGE_BYTES;
    private static final int VERSION = 1;

    private final Storage storage;

    LogDirectory(Storage storage) {
        this.storage = storage;
    }

    /** Makes the directory that of a log, or checks that it has a log with such segments. */
    void claim(long segmentBytes) {
        List<String> names = storage.list();
        if (names.contains(NEW_DEVICE)) {
            storage.delete(NEW_DEVICE);
        }
        if (names.contains(DEVICE)) {
            check(segmentBytes);
        } else if (names.stream().anyMatch(name -> name.startsWith(PREFIX))) {
            throw new StorageException(storage.name() + " has segments of a log and no file '" + DEVICE
                    + "', which describes them: restore it, or take an empty directory");
        } else {
            describe(segmentBytes);
        }
    }

    private static String text(long segmentBytes) {
        String what = "farheap log\nversion " + VERSION + "\nsegment " + segmentBytes + "\n";
        CRC32C sum = new CRC32C();
        sum.update(what.getBytes(StandardCharsets.US_ASCII));
        return what + "crc32c " + Long.toHexString(sum.getValue()) + "\n";
    }

    private void describe(long segmentBytes) {
        try (Arena arena = Arena.ofConfined();
                StoredFile file = storage.create(NEW_DEVICE)) {
            MemorySegment block = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            block.setString(0, text(segmentBytes), StandardCharsets.US_ASCII);
            long bytes = file.write(0, block, 0, BLOCK_BYTES);
            int error = bytes == BLOCK_BYTES ? file.sync() : (int) Math.max(0, -bytes);
            if (bytes != BLOCK_BYTES || error != 0) {
                throw new StorageException("cannot write " + NEW_DEVICE + " in " + storage.name()
                        + (error == 0 ? "" : ", by " + Errno.describe(error))
                        + ": make sure that there is room on the disk, and that it works");
            }
        }
        storage.rename(NEW_DEVICE, DEVICE);
        storage.sync();
    }

    private void check(long segmentBytes) {
        String text = read();
        String[] lines = text.split("\n", -1);
        if (lines.length != 5 || !lines[0].equals("farheap log")) {
            throw damaged();
        }
        if (!lines[1].equals("version " + VERSION)) {
            throw new StorageException("the log in " + storage.name() + " has " + lines[1]
                    + "; this program knows version " + VERSION + ": use the program that wrote it");
        }
        long bytes = number(lines[2]);
        if (!text.equals(text(bytes))) {
            throw damaged();
        }
        if (bytes != segmentBytes) {
            throw new StorageException("the log in " + storage.name() + " has segments of " + bytes + " bytes, and "
                    + segmentBytes + " were asked for: ask for " + bytes + ", or take an empty directory");
        }
    }

    private long number(String line) {
        try {
            return Long.parseLong(line.substring(Math.min(line.length(), "segment ".length())));
        } catch (NumberFormatException e) {
            throw damaged();
        }
    }

    private StorageException damaged() {
        return new StorageException("the file '" + DEVICE + "' in " + storage.name()
                + " is damaged: restore it, or take an empty directory");
    }

    private String read() {
        try (Arena arena = Arena.ofConfined();
                StoredFile file = storage.open(DEVICE)) {
            MemorySegment block = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            long bytes = file.read(0, block, 0, BLOCK_BYTES);
            if (bytes < 0) {
                throw new StorageException("cannot read the file '" + DEVICE + "' in " + storage.name() + ": "
                        + Errno.describe((int) -bytes));
            }
            if (bytes != BLOCK_BYTES || block.get(ValueLayout.JAVA_BYTE, BLOCK_BYTES - 1) != 0) {
                throw damaged();
            }
            return block.getString(0, StandardCharsets.US_ASCII);
        }
    }

    /** Opens the existing segments, the lowest first. */
    List<FileSegment> open(long segmentBytes) {
        List<FileSegment> opened = new ArrayList<>();
        try {
            for (long number : numbers(segmentBytes)) {
                FileSegment segment = new FileSegment(number, storage.open(name(number)), true);
                opened.add(segment);
                if (segment.file.size() > segmentBytes) {
                    throw new StorageException(name(number) + " in " + storage.name() + " has " + segment.file.size()
                            + " bytes, more than a segment's " + segmentBytes
                            + ": it is no file of this log, restore it");
                }
            }
        } catch (Throwable e) {
            opened.forEach(FileSegment::release);
            throw e;
        }
        return opened;
    }

    private List<Long> numbers(long segmentBytes) {
        List<Long> numbers = new ArrayList<>();
        for (String name : storage.list()) {
            if (name.startsWith(PREFIX)) {
                numbers.add(number(name, Device.MAX_ADDRESS / segmentBytes));
            }
        }
        numbers.sort(null);
        for (int i = 1; i < numbers.size(); i++) {
            if (numbers.get(i) != numbers.get(i - 1) + 1) {
                throw new StorageException(storage.name() + " has " + name(numbers.get(i - 1)) + " and "
                        + name(numbers.get(i)) + " and none between: restore the missing segments");
            }
        }
        return numbers;
    }

    private long number(String name, long most) {
        String digits = name.substring(PREFIX.length());
        long number = -1;
        if (digits.length() == DIGITS && digits.chars().allMatch(digit -> Character.digit(digit, 16) >= 0)) {
            number = Long.parseUnsignedLong(digits, 16);
        }
        if (number < 0 || number >= most || !name.equals(name(number))) {
            throw new StorageException(storage.name() + " has a file " + name + ", which is no segment's name, as "
                    + name(0) + " is: move it to another directory");
        }
        return number;
    }

    private static String name(long number) {
        String digits = Long.toHexString(number);
        return PREFIX + "0".repeat(DIGITS - digits.length()) + digits;
    }

    /** Creates the file of a segment that the log does not have; if this fails, it can be tried again. */
    FileSegment create(long number) {
        FileSegment segment = new FileSegment(number, createFile(name(number)), false);
        try {
            storage.sync();
            return segment;
        } catch (Throwable e) {
            Closeables.after(e, segment::release, () -> storage.delete(name(number)));
            throw e;
        }
    }

    private StoredFile createFile(String name) {
        try {
            return storage.create(name);
        } catch (StorageException e) {
            if (!storage.list().contains(name)) {
                throw e;
            }
            // An earlier attempt has created it, then failed, and could not delete it. Nothing was written to it.
            storage.delete(name);
            return storage.create(name);
        }
    }

    /** Deletes the file of a segment; if this fails, it can be tried again. */
    void delete(long number) {
        try {
            storage.delete(name(number));
        } catch (StorageException e) {
            // An earlier attempt has deleted it if only the sync of the directory has failed.
            if (storage.list().contains(name(number))) {
                throw e;
            }
        }
        storage.sync();
    }
}
