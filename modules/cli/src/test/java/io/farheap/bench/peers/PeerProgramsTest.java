package io.farheap.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the programs in C print is a turn, and their means are those of one operation after another, or not. */
class PeerProgramsTest {

    @Test
    void perftestsTableOfLatenciesIsATurn() throws PeerAbsentException {
        PeerTurn turn = Perftest.parse("""
                 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
                 8       20000          0.15           9.98         0.17     \t       0.18     \t0.05\t\t0.31\t\t1.25
                ---------------------------------------------------------------------------------------
                """, false);
        assertEquals(170, turn.median(), 0.001);
        assertEquals(310, turn.p99(), 0.001);
    }

    @Test
    void perftestsRateIsATimeOfOneOperation() throws PeerAbsentException {
        PeerTurn turn = Perftest.parse("""
                 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
                 64         100000           1290.12            1220.70            20.000000
                """, true);
        assertEquals(50, turn.median(), 0.001);
        assertTrue(Double.isNaN(turn.p99()));
    }

    @Test
    void withoutAResultPerftestIsAbsent() {
        assertThrows(PeerAbsentException.class, () -> Perftest.parse("Couldn't listen to port 18515", false));
    }

    /** Another thread may close a descriptor after it was listed. */
    @Test
    void aDescriptorThatIsClosedMeanwhileIsNoError(@TempDir Path directory) throws IOException {
        Path closed = directory.resolve("3");
        Path other = Files.createSymbolicLink(directory.resolve("4"), Path.of("/memfd:another (deleted)"));
        Path memory = Files.createSymbolicLink(directory.resolve("5"), Path.of("/memfd:memory (deleted)"));
        assertEquals(memory.toString(), Perftest.memfd(List.of(closed, other, memory), "memory"));
        assertThrows(IOException.class, () -> Perftest.memfd(List.of(closed, other), "memory"));
    }

    @Test
    void ucxsAnswerIsATurn() throws IOException {
        PeerTurn turn = UcxFlush.parse("212 340 100000 0");
        assertEquals(212, turn.median());
        assertEquals(340, turn.p99());
        assertThrows(IOException.class, () -> UcxFlush.parse("212 340 100000 1"));
        assertThrows(IOException.class, () -> UcxFlush.parse("ucp_put_nbx: Unsupported"));
    }

    @Test
    void aRowOfManyOperationsInFlightIsNotComparedWithOne() {
        assertTrue(PeerMeans.single(false, 2).single());
        assertFalse(new PeerMeans(false, 2, 128, 1, 1).single());
        assertEquals(64, PeerMeans.single(true, 1).bytesLocal(64));
        assertEquals(0, PeerMeans.single(false, 2).bytesLocal(64));
    }
}
