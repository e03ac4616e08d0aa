package io.farheap.manager.state;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Managers that keep their state together: each runs a ZooKeeper server, and more than half of these servers must be
 * up.
 *
 * @param peers by id, 1 to 255
 */
public record Ensemble(SortedMap<Integer, EnsemblePeer> peers) {

    private static final int LARGEST_ID = 255;
    private static final int LARGEST_PORT = 65_535;
    /** In ticks: the longest time that a server takes to get the writes that it has missed, and then to answer. */
    private static final String INIT_TICKS = "60";

    private static final String SYNC_TICKS = "10";
    private static final Pattern PEER =
            Pattern.compile("(\\d{1,3})@(\\[[^\\]]+\\]|[^:\\[\\]@]+):(\\d{1,5})(?::(\\d{1,5}))?");

    /**
     * The address at which the other servers reach a member.
     *
     * @param host a name or an address; IPv6 in brackets
     * @param port for writes
     * @param electionPort for the election of the server that orders the writes
     */
    public record EnsemblePeer(String host, int port, int electionPort) {

        @Override
        public String toString() {
            return host + ":" + port + ":" + electionPort;
        }
    }

    public Ensemble {
        peers = new TreeMap<>(peers);
    }

    /**
     * @param text {@code ID@HOST:PORT[:ELECTIONPORT],...}; without an election port it is the next port
     * @throws IllegalArgumentException if the text is malformed, or names fewer than three members
     */
    public static Ensemble parse(String text) {
        SortedMap<Integer, EnsemblePeer> peers = new TreeMap<>();
        for (String one : text.split(",", -1)) {
            Matcher matcher = PEER.matcher(one.strip());
            if (!matcher.matches()) {
                throw new IllegalArgumentException(
                        "\"" + one + "\" is not ID@HOST:PORT or ID@HOST:PORT:ELECTIONPORT, such as 1@10.0.0.7:7310");
            }
            int id = Integer.parseInt(matcher.group(1));
            int port = Integer.parseInt(matcher.group(3));
            int election = matcher.group(4) == null ? port + 1 : Integer.parseInt(matcher.group(4));
            if (id < 1 || id > LARGEST_ID || port < 1 || election < 1 || Math.max(port, election) > LARGEST_PORT) {
                throw new IllegalArgumentException("\"" + one + "\": ids are 1 to " + LARGEST_ID + ", ports 1 to "
                        + LARGEST_PORT + ", and the election's port is the next one if it is not named");
            }
            if (peers.put(id, new EnsemblePeer(matcher.group(2), port, election)) != null) {
                throw new IllegalArgumentException("the ensemble " + text + " has the id " + id + " twice");
            }
        }
        if (peers.size() < 3) {
            throw new IllegalArgumentException("the ensemble " + text + " has " + peers.size()
                    + " members, of which none may fail: name three or more, or use --data alone");
        }
        return new Ensemble(peers);
    }

    /**
     * Returns a member.
     *
     * @throws IllegalArgumentException if there is no member of that id
     */
    EnsemblePeer peer(int id) {
        EnsemblePeer peer = peers.get(id);
        if (peer == null) {
            throw new IllegalArgumentException(
                    "there is no member " + id + " in the ensemble, which has " + peers.keySet());
        }
        return peer;
    }

    /** Returns ZooKeeper's properties. */
    Map<String, String> properties() {
        Map<String, String> properties = new HashMap<>();
        properties.put("initLimit", INIT_TICKS);
        properties.put("syncLimit", SYNC_TICKS);
        peers.forEach((id, peer) -> properties.put("server." + id, peer.toString()));
        return properties;
    }

    /**
     * Checks that a member's ports are free: with a taken port, ZooKeeper would search for ever for the other servers,
     * none of which could reach it.
     *
     * @throws StateException if another process has a member's ports
     */
    void requirePorts(int id) {
        EnsemblePeer peer = peer(id);
        for (int port : new int[] {peer.port(), peer.electionPort()}) {
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(InetAddress.getByName(peer.host()), port));
            } catch (IOException e) {
                throw new StateException(
                        "member " + id + " of the ensemble cannot listen on " + peer.host() + ":" + port + " ("
                                + e.getMessage() + "): name an address of this host, and a port that is free",
                        e);
            }
        }
    }
}
