package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Pointer;

/** The devices of the verbs library in use. Any thread may call. */
public final class Devices {

    private static final Path NODES = Path.of("/dev/infiniband");

    private Devices() {}

    /** Which library is in use: {@link VerbsLibrary#SYSTEM} or {@link VerbsLibrary#SOFT}. Loads it on first use. */
    public static VerbsLibrary library() {
        return VerbsLibrary.load();
    }

    public static List<DeviceInfo> list() {
        VerbsLibrary.load();
        List<DeviceInfo> devices = new ArrayList<>();
        forEach((device, info) -> {
            devices.add(info);
            return false;
        });
        return devices;
    }

    /**
     * Opens the first device that has an active port.
     *
     * @throws VerbsException where there is none
     */
    public static Context open() {
        List<DeviceInfo> devices = list();
        for (DeviceInfo device : devices) {
            Context context = open(device.name());
            if (context.activePort() != null) {
                return context;
            }
            context.close();
        }
        throw new VerbsException("no RDMA device with an active port (devices: "
                + devices.stream().map(DeviceInfo::name).toList()
                + "); bring a link up, or use the software device with -D"
                + VerbsLibrary.PROPERTY + "=soft");
    }

    /**
     * Opens a device by name; an empty name opens the first with an active port.
     *
     * @throws VerbsException where there is no such device or it cannot be opened
     */
    public static Context open(String name) {
        if (name.isEmpty()) {
            return open();
        }
        VerbsLibrary library = VerbsLibrary.load();
        Context[] opened = new Context[1];
        forEach((device, info) -> {
            if (!info.name().equals(name)) {
                return false;
            }
            var context = ibverbs.farheap_open_device(device);
            if (context == null) {
                throw cannotOpen(name, Native.errno());
            }
            opened[0] = new Context(info, library, context);
            return true;
        });
        if (opened[0] == null) {
            throw new VerbsException("no device " + name + "; there are "
                    + list().stream().map(DeviceInfo::name).toList());
        }
        return opened[0];
    }

    /**
     * libibverbs looks elsewhere for a node that it may not open, and says ENOENT in the end: only the nodes tell what
     * is wrong.
     */
    private static VerbsException cannotOpen(String name, int errno) {
        try (DirectoryStream<Path> nodes = Files.newDirectoryStream(NODES, "uverbs*")) {
            for (Path node : nodes) {
                if (!Files.isReadable(node) || !Files.isWritable(node)) {
                    return new VerbsException("cannot open device " + name + ": no permission on " + node
                            + "; give this user read and write access to " + NODES + " (a udev rule or a group)");
                }
            }
        } catch (IOException e) {
            return new VerbsException("cannot open device " + name + ": there is no " + NODES
                    + "; load ib_uverbs (modprobe ib_uverbs), and in a container pass the directory on (--device "
                    + NODES + ")");
        }
        return new VerbsException("cannot open device " + name, errno);
    }

    private interface Visitor {
        boolean visit(Pointer device, DeviceInfo info);
    }

    private static void forEach(Visitor visitor) {
        int[] count = new int[1];
        Pointer devices = ibverbs.farheap_get_device_list(count);
        if (devices == null) {
            throw new VerbsException(
                    "cannot list RDMA devices (is the kernel's RDMA loaded? modprobe ib_uverbs); without a NIC use the "
                            + "software device with -D" + VerbsLibrary.PROPERTY + "=soft",
                    Native.errno());
        }
        try {
            for (int i = 0; i < count[0]; i++) {
                Pointer device = ibverbs.farheap_device_at(devices, i);
                String name = ibverbs.farheap_get_device_name(device).getString();
                if (visitor.visit(device, new DeviceInfo(name, ibverbs.farheap_get_device_guid(device)))) {
                    return;
                }
            }
        } finally {
            ibverbs.farheap_free_device_list(devices);
        }
    }
}
