package io.farheap.manager.state;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;

/** How ZooKeeper is run in this process. */
final class ZooKeeperConfig {

    private ZooKeeperConfig() {}

    /**
     * @param more beside what all have
     * @throws StateException ZooKeeper refuses it
     */
    static QuorumPeerConfig parse(Path directory, Map<String, String> more) {
        Properties properties = new Properties();
        properties.setProperty("dataDir", directory.toAbsolutePath().toString());
        properties.setProperty("clientPortAddress", "127.0.0.1");
        // Any that is free.
        properties.setProperty("clientPort", "0");
        properties.setProperty("maxClientCnxns", "0");
        // Milliseconds. A stopped server's threads look once a tick whether they are to end.
        properties.setProperty("tickTime", "500");
        properties.setProperty("maxSessionTimeout", "60000");
        // These two become system properties, which is the only way to tell. It answers to srvr all the same.
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
