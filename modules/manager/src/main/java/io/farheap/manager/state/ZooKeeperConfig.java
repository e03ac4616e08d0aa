package io.farheap.manager.state;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;

/** Configures a ZooKeeper server in this process. */
final class ZooKeeperConfig {

    private ZooKeeperConfig() {}

    /**
     * @param more properties beside those that all servers have
     * @throws StateException if ZooKeeper refuses it
     */
    static QuorumPeerConfig parse(Path directory, Map<String, String> more) {
        Properties properties = new Properties();
        properties.setProperty("dataDir", directory.toAbsolutePath().toString());
        properties.setProperty("clientPortAddress", "127.0.0.1");
        // Any free port.
        properties.setProperty("clientPort", "0");
        properties.setProperty("maxClientCnxns", "0");
        // Milliseconds. The threads of a stopped server check once a tick whether they must end.
        properties.setProperty("tickTime", "500");
        properties.setProperty("maxSessionTimeout", "60000");
        // These two become system properties, the only way to set them. The server answers the command srvr
        // nevertheless.
        properties.setProperty("admin.enableServer", "false");
        properties.setProperty("4lw.commands.whitelist", "");
        more.forEach(properties::setProperty);
        QuorumPeerConfig parsed = new QuorumPeerConfig();
        try {
            parsed.parseProperties(properties);
        } catch (IOException | ConfigException | RuntimeException e) {
            throw new StateException("ZooKeeper refuses its configuration for " + directory + ": " + e.getMessage(), e);
        }
        return parsed;
    }
}
