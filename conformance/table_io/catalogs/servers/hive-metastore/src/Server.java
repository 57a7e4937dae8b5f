import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf.ConfVars;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.metastore.txn.TxnStore;
import org.apache.hadoop.hive.metastore.txn.TxnUtils;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** Hive's metastore, as HiveMetaStore starts it, but on the loopback interface only. */
public final class Server {
  private Server() {}

  /** Arguments: the port, the location of the warehouse, the folder of the Derby database, and hive.txn.timeout in s. */
  public static void main(String[] arguments) throws Exception {
    Configuration conf = MetastoreConf.newMetastoreConf();
    MetastoreConf.setVar(conf, ConfVars.WAREHOUSE, arguments[1]);
    MetastoreConf.setVar(conf, ConfVars.CONNECT_URL_KEY, "jdbc:derby:" + arguments[2] + ";create=true");
    MetastoreConf.setVar(conf, ConfVars.CONNECTION_DRIVER, "org.apache.derby.jdbc.EmbeddedDriver");
    MetastoreConf.setBoolVar(conf, ConfVars.SCHEMA_VERIFICATION, false);
    MetastoreConf.setBoolVar(conf, ConfVars.AUTO_CREATE_ALL, true);
    // The defaults name classes of Hive itself, which is not here.
    MetastoreConf.setVar(
        conf, ConfVars.TASK_THREADS_ALWAYS, "org.apache.hadoop.hive.metastore.events.EventCleanerTask");
    MetastoreConf.setVar(
        conf, ConfVars.EXPRESSION_PROXY_CLASS, "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy");
    MetastoreConf.setTimeVar(conf, ConfVars.TXN_TIMEOUT, Long.parseLong(arguments[3]), TimeUnit.SECONDS);
    // The tables of locks are not among those that the metastore makes by itself.
    try {
      TxnDbUtil.prepDb(conf);
    } catch (java.sql.SQLException exception) {
      System.err.println("the tables of locks are there: " + exception.getMessage());
    }
    HiveMetaStore.HMSHandler handler = new HiveMetaStore.HMSHandler("metastore", conf, false);
    IHMSHandler retrying = RetryingHMSHandler.getProxy(conf, handler, true);
    releaseLocks(conf);
    TServerSocket socket =
        new TServerSocket(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    TThreadPoolServer.Args settings =
        new TThreadPoolServer.Args(socket)
            .processor(new TSetIpAddressProcessor<>(retrying))
            .transportFactory(new TTransportFactory())
            .protocolFactory(new TBinaryProtocol.Factory())
            .minWorkerThreads(8)
            .maxWorkerThreads(64);
    new TThreadPoolServer(settings).serve();
  }

  /** Let go of locks whose holders are gone, as Hive's AcidHouseKeeperService does, which is not here. */
  private static void releaseLocks(Configuration conf) {
    TxnStore store = TxnUtils.getTxnStore(conf);
    Thread thread =
        new Thread(
            () -> {
              while (true) {
                store.performTimeOuts();
                try {
                  Thread.sleep(1000);
                } catch (InterruptedException exception) {
                  return;
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
  }
}
