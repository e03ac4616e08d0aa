package io.farheap.verbs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether the kernel has an RDMA port that is up. Asked of sysfs and not of libibverbs, because a process that has
 * loaded one verbs library keeps it.
 */
final class ActivePort {

    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private ActivePort() {}

    static boolean exists() {
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(DEVICES)) {
            for (Path device : devices) {
                if (hasActivePort(device)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false;
        }
        return false;
    }

    private static boolean hasActivePort(Path device) throws IOException {
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(device.resolve("ports"))) {
            for (Path port : ports) {
                if (Files.readString(port.resolve("state")).contains("ACTIVE")) {
                    return true;
                }
            }
        }
        return false;
    }
}
