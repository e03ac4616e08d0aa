package io.farheap.manager.service.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.CacheGrant;
import io.farheap.control.ManagerKey;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.RegionShare;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.state.StateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyFileTest {

    private static final CacheGrant GRANT = new CacheGrant(7, 11, 3, CacheGrant.READ, 5, 2, 1);

    @TempDir
    private Path directory;

    @Test
    void itIsMadeOnceAndNobodyElseReadsIt() throws IOException {
        SignedGrant grant = SignedGrant.sign(GRANT, KeyFile.read(directory).getPrivate());
        assertTrue(grant.isSignedBy(KeyFile.read(directory).getPublic()));
        assertEquals(GRANT, grant.grant());
        try (var files = Files.list(directory)) {
            List<Path> all = files.toList();
            assertEquals(1, all.size());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(all.getFirst())));
        }
    }

    @Test
    void whatIsNoKeyIsRefused() throws IOException {
        Path file = directory.resolve("grants.key");
        for (String text : List.of("", "a\n", "YQ==\nYQ==\n", "?\n?\n")) {
            Files.writeString(file, text);
            StateException refused = assertThrows(StateException.class, () -> KeyFile.read(directory));
            assertTrue(refused.getMessage().contains(file.toString()), refused::getMessage);
        }
    }

    @Test
    void whatIsSignedIsOfItsEpochAndForAWhile() {
        var keys = KeyFile.read(directory);
        GrantSigner signer = new GrantSigner(keys, 9, new GrantClock(() -> 0, () -> 1_000));
        RegionShare share = new RegionShare("host:1", 2, SignedGrant.unsigned(GRANT.given(0, 0)));
        Allocation signed = signer.sign(new Allocation(
                7, 1, 2, 1, new AllocationCandidate(1, 0), List.of(share), List.of(new RegionShare("b:1", 1))));
        SignedGrant grant = signed.shares().getFirst().grant();
        ManagerKey known = signer.managerKey();
        assertTrue(grant.isSignedBy(known.key()));
        assertEquals(GRANT.given(9, 1_000 + CacheGrant.MOST_MILLIS), grant.grant());
        assertEquals(SignedGrant.sign(grant.grant(), keys.getPrivate()), grant, "as the JDK signs it");
        assertEquals(9, known.epoch());
        assertEquals(SignedGrant.NONE, signed.reserved().getFirst().grant());
    }
}
