package io.farheap.verbs;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The kernel's RDMA devices, as its files show them before a verbs library is loaded. A container sees the devices of
 * its host in sysfs, but usually has no device node with which to use them. Any thread may call.
 */
final class KernelDevices {

    /** The devices of this machine. */
    static final KernelDevices MACHINE = new KernelDevices(Path.of("/sys/class"), Path.of("/dev/infiniband"));

    /** The kernel prints a number before each name. An InfiniBand or RoCE device is a channel adapter. */
    private static final String CHANNEL_ADAPTER = "1:";

    private static final String IWARP = "4:";
    private static final String ACTIVE = "4:";

    private final Path classes;
    private final Path nodes;

    /**
     * @param classes the directory of sysfs with {@code infiniband} and {@code infiniband_verbs}
     * @param nodes the directory of the device nodes
     */
    KernelDevices(Path classes, Path nodes) {
        this.classes = classes;
        this.nodes = nodes;
    }

    /** The devices' names, sorted. */
    List<String> names() {
        return entries(classes.resolve("infiniband")).stream()
                .map(device -> device.getFileName().toString())
                .toList();
    }

    /**
     * Checks everything that the files show. The device may still refuse a queue pair.
     *
     * @throws VerbsException with the reason why this process cannot use the device
     */
    void requireUsable(String name) {
        requireTransport(name);
        requireActivePort(name);
        requireNode(name);
    }

    /**
     * Accepts a device whose kind the kernel does not report.
     *
     * @throws VerbsException for a device that is neither InfiniBand nor RoCE
     */
    void requireTransport(String name) {
        String type = read(device(name).resolve("node_type"));
        if (type.isEmpty() || type.startsWith(CHANNEL_ADAPTER)) {
            return;
        }
        throw new VerbsException("device " + name
                + (type.startsWith(IWARP)
                        ? " speaks iWARP, which Farheap does not"
                        : " is neither InfiniBand nor RoCE (its node type is " + type + ")"));
    }

    private void requireActivePort(String name) {
        for (Path port : entries(device(name).resolve("ports"))) {
            if (read(port.resolve("state")).startsWith(ACTIVE)) {
                return;
            }
        }
        throw Context.noActivePort(name);
    }

    /**
     * The exception for a device that cannot be opened. If libibverbs may not open a node it looks elsewhere, and
     * returns ENOENT in the end: only the device's own node shows the cause.
     */
    VerbsException cannotOpen(String name, int errno) {
        try {
            requireNode(name);
        } catch (VerbsException e) {
            return e;
        }
        return new VerbsException("cannot open device " + name, errno);
    }

    private void requireNode(String name) {
        for (Path entry : entries(classes.resolve("infiniband_verbs"))) {
            if (read(entry.resolve("ibdev")).equals(name)) {
                requireOpens(name, nodes.resolve(entry.getFileName()));
                return;
            }
        }
        throw new VerbsException("device " + name + " has no node for processes; load ib_uverbs (modprobe ib_uverbs)");
    }

    private static void requireOpens(String name, Path node) {
        try (FileChannel _ = FileChannel.open(node, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            // It only had to open.
        } catch (NoSuchFileException e) {
            throw new VerbsException(
                    "device " + name + " has no node " + node + " here; a container needs --device " + node);
        } catch (IOException e) {
            String reason = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
            throw new VerbsException("device " + name + " cannot be opened: " + node + ": "
                    + (reason == null
                            ? "no permission; this user needs read and write access (a udev rule or a group)"
                            : reason));
        }
    }

    private Path device(String name) {
        return classes.resolve("infiniband").resolve(name);
    }

    private static List<Path> entries(Path directory) {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            stream.forEach(entries::add);
        } catch (IOException | DirectoryIteratorException e) {
            // A device may be removed meanwhile, and the kernel may have no devices of a kind: then there are no more
            // entries.
        }
        Collections.sort(entries);
        return entries;
    }

    /** The file's content without the line end; empty if it cannot be read. */
    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
